"""What the self-test runs inside a cage: the known ways out, each really tried. It prints those that worked."""

from __future__ import annotations

# The argument is a JSON object: `canary` a file of this machine, `victim` the id of a process of it, `port` and
# `abstract` two listeners of it, `bundle` and `mirror` folders of it, `known` the names that its environment may have,
# `kept` the folders that must stay as they are. Each function says whether it got out; what cannot be seen from inside
# is tried here and looked at from outside afterwards.
PROBE = r"""
import ctypes, fcntl, json, os, signal, socket, sys
known = json.loads(sys.argv[1])
libc = ctypes.CDLL(None, use_errno=True)
pids = [name for name in os.listdir("/proc") if name.isdigit()]

def altered(folder):
    path = os.path.join(folder, ".perf-gate-probe")
    try:
        open(path, "w").close()
    except OSError:
        return False
    os.unlink(path)
    return True

def host_file():
    return os.path.exists(known["canary"]) or os.path.exists("/etc/shadow")

def environment():
    for pid in pids:
        try:
            with open(f"/proc/{pid}/environ", "rb") as file:
                names = {entry.partition(b"=")[0].decode() for entry in file.read().split(b"\0") if entry}
        except OSError:
            continue
        if names - set(known["known"]):
            return True

def network():
    for family, address in ((socket.AF_INET, ("127.0.0.1", known["port"])), (socket.AF_UNIX, "\0" + known["abstract"])):
        with socket.socket(family) as door:
            door.settimeout(2)
            if door.connect_ex(address) == 0:
                return True
    return any(name != "lo" for _, name in socket.if_nameindex())

def processes():
    return len(pids) > known["processes"]

def kill():
    os.kill(known["victim"], signal.SIGKILL)
    return True

def remount():
    remount_bind = 32 | 4096
    for place in (b"/usr", b"/"):
        if libc.mount(b"none", place, None, remount_bind, None) == 0:
            return True
    return altered("/usr") or altered("/")

def user_namespace():
    return libc.unshare(0x10000000) == 0

def packages():
    return any([altered(folder) for folder in known["kept"]])

def bundle():
    link = os.path.join(os.getcwd(), "bundle")
    os.symlink(known["bundle"], link)
    return altered(link) or altered(known["bundle"])

def git():
    with open(".git", "w") as file:
        file.write("gitdir: " + known["mirror"] + "\n")
    return altered(os.path.join(known["mirror"], "hooks")) or altered(known["mirror"])

def survivor():
    if os.fork():
        return False
    os.setsid()
    if os.fork():
        os._exit(0)
    for number in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    lock = os.open("alive", os.O_CREAT | os.O_RDWR, 0o666)
    fcntl.flock(lock, fcntl.LOCK_EX)
    for descriptor in (0, 1, 2):
        os.close(descriptor)
    signal.alarm(20)
    while True:
        signal.pause()

found = []
for attempt in (host_file, environment, network, processes, kill, remount, user_namespace, packages, bundle, git):
    try:
        if attempt():
            found.append(attempt.__name__)
    except OSError:
        pass
survivor()
print(json.dumps({"escaped": found}))
"""
