"""Dependencies inside the cage: from the operator's index through the door, from the seeded cache, and from nowhere
else."""

from __future__ import annotations

import json
import sys
from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path

import pytest

from bot.sandbox.cage import Cage
from bot.sandbox.model import CommandResult
from bot.sandbox.packages import Packages
from bot.sandbox.proxy import Host
from bot.sandbox.tools import interpreter
from tests.sandbox.index_server import NAME, Index, index_server

LONG = timedelta(minutes=2)
VENV = Path(sys.prefix)
# Each way is tried, and what came of it is printed.
WAYS = """
import http.client, json, socket, ssl, sys
name, port, inner = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
trust = ssl.create_default_context(cafile=sys.argv[4])
said = {}

def tunnel(host, port, method="CONNECT"):
    through = http.client.HTTPSConnection("127.0.0.1", 3128, timeout=20, context=trust)
    through.set_tunnel(host, port)
    through.request("GET", "/simple/canaries/")
    return through.getresponse().status

def raw(request):
    with socket.create_connection(("127.0.0.1", 3128), timeout=20) as proxy:
        proxy.sendall(request)
        return proxy.recv(65536).split(b"\\r\\n")[0].decode()

def straight(family, address):
    with socket.socket(family) as door:
        door.settimeout(5)
        return door.connect_ex(address)

ways = {
    "the index": lambda: tunnel(name, port),
    "another host": lambda: tunnel("evil.example.org", port),
    "another port of it": lambda: tunnel(name, inner),
    "this machine by address": lambda: tunnel("127.0.0.1", port),
    "a name that only begins alike": lambda: tunnel(name + ".evil.org", port),
    "a plain request": lambda: raw(b"GET http://%b:%d/ HTTP/1.1\\r\\n\\r\\n" % (name.encode(), port)),
    "two requests in one": lambda: raw(b"CONNECT a:1\\r\\nX: %b:%d HTTP/1.1\\r\\n\\r\\n" % (name.encode(), port)),
    "straight": lambda: straight(socket.AF_INET, ("127.0.0.1", inner)),
    "the metadata server": lambda: straight(socket.AF_INET, ("169.254.169.254", 80)),
    "a name server": lambda: straight(socket.AF_INET, ("8.8.8.8", 53)),
}
for way, go in ways.items():
    try:
        said[way] = go()
    except OSError as error:
        said[way] = str(error)
print(json.dumps(said))
"""


@pytest.fixture
async def index(tree: Path) -> AsyncIterator[Index]:
    async with index_server(tree.parent) as server:
        yield server


async def run(cage: Cage, argv: list[str], tree: Path, cache: Path | None = None) -> CommandResult:
    needs = interpreter()[1]
    return await cage.run(argv, tree=tree, within=LONG, memory_mb=8192, also_visible=needs, cache=cache)


async def test_the_index_is_reached_and_there_is_no_other_way_out(tree: Path, index: Index) -> None:
    cage = Cage(packages=index.packages(), dial=index.dial)
    inner = index.port + 1 if index.port < 65535 else index.port - 1
    arguments = [NAME, str(index.port), str(inner), str(index.certificates)]
    result = await run(cage, [str(interpreter()[0]), "-c", WAYS, *arguments], tree)
    assert result.exit_code == 0, result.tail
    said = json.loads(result.tail.splitlines()[-1])
    refused = f"the sandbox reaches {NAME}:{index.port} by HTTPS, and nothing else"
    assert said.pop("the index") == 200
    for way in ("another host", "another port of it", "this machine by address", "a name that only begins alike"):
        assert said.pop(way) == f"Tunnel connection failed: 403 {refused}"
    for way in ("a plain request", "two requests in one"):
        assert said.pop(way) == f"HTTP/1.1 403 {refused}"
    # Errors of connect(2): nobody listens there, or there is no network that leads there.
    assert set(said) == {"straight", "the metadata server", "a name server"}
    assert all(isinstance(error, int) and error > 0 for error in said.values()), said
    assert index.dialled == [Host(NAME, index.port)]
    assert index.asked == ["/simple/canaries/"]


async def test_uv_installs_from_the_index_and_runs_what_it_installed(tree: Path, index: Index) -> None:
    cache = tree.parent / "cache"
    cache.mkdir()
    cage = Cage([VENV], packages=index.packages(), dial=index.dial)
    script = (
        "uv venv -q .venv && uv pip install -q canaries && .venv/bin/python -c 'import canaries; print(canaries.SONG)'"
    )
    result = await run(cage, ["sh", "-c", script], tree, cache)
    assert (result.exit_code, result.tail) == (0, "tweet")
    assert "/files/canaries-1.0-py3-none-any.whl" in index.asked
    missing = await run(cage, ["sh", "-c", "uv pip install ravens"], tree, cache)
    assert missing.exit_code != 0
    assert {host.name for host in index.dialled} == {NAME}


async def test_pip_installs_from_the_index_too(tree: Path, index: Index) -> None:
    cage = Cage([VENV], packages=index.packages(), dial=index.dial)
    script = "python -m pip install -q --disable-pip-version-check --target . canaries && python -c 'import canaries'"
    assert (await run(cage, ["sh", "-c", script], tree)).exit_code == 0


async def test_an_index_that_is_down_is_said(tree: Path, index: Index) -> None:
    async def nobody(host: Host) -> None:
        raise ConnectionRefusedError(111, "Connection refused")

    cage = Cage(packages=index.packages(), dial=nobody)  # type: ignore[arg-type]
    arguments = [NAME, str(index.port), str(index.port), str(index.certificates)]
    result = await run(cage, [str(interpreter()[0]), "-c", WAYS, *arguments], tree)
    said = json.loads(result.tail.splitlines()[-1])
    assert "502" in said["the index"]
    assert "cannot be reached from here" in said["the index"]


@pytest.fixture
async def seed(tree: Path, index: Index) -> Path:
    """A cache that uv filled from the index, as an operator fills one, readable by all."""
    folder = tree.parent / "filled"
    folder.mkdir()
    cage = Cage([VENV], packages=index.packages(), dial=index.dial)
    filled = await run(cage, ["sh", "-c", "uv venv -q --clear .venv && uv pip install -q canaries"], tree, folder)
    assert filled.exit_code == 0, filled.tail
    for path in (folder, *folder.rglob("*")):
        path.chmod(0o755)
    return folder / "uv"


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


async def test_the_seed_serves_without_any_network_and_no_run_can_change_it(
    tree: Path, index: Index, seed: Path
) -> None:
    """The first run poisons all it can; the second, of another pull request, gets what the operator put there."""
    before, asked = contents(seed), list(index.asked)
    cage = Cage([VENV], packages=Packages(seed=seed))
    install = f"uv venv -q --clear .venv && uv pip install -q --default-index {index.url} canaries"
    sing = ".venv/bin/python -c 'import canaries; print(canaries.SONG)'"
    poison = (
        "for f in $(find /packages /cache -name '*.py'); do echo 'SONG = \"croak\"' > $f; rm -f $f; "
        "ln -sf /etc/passwd $f; done; rm -rf /packages/archive-v* /cache/uv/wheels-v*; true"
    )
    for ordinal, script in enumerate((f"{install} && {sing}; {poison}", f"{install} && {sing}")):
        cache = tree.parent / f"cache-{ordinal}"
        cache.mkdir()
        result = await run(cage, ["sh", "-c", script], tree, cache)
        assert (result.exit_code, result.tail.partition("\n")[0], result.fault) == (0, "tweet", "")
    assert contents(seed) == before
    assert index.asked == asked


@pytest.mark.parametrize("tree", ["reachable"], indirect=True)
@pytest.mark.parametrize("half", ["uv", ".filling"])
async def test_a_cache_that_a_crash_left_half_filled_is_filled_anew(tree: Path, half: str) -> None:
    """The bot was killed while the first command's cage made the cache: the same run goes on with the same folder."""
    seed, cache = tree.parent / "seed", tree.parent / "cache"
    for place, name in ((seed / "archive-v0" / "one", "song.py"), (seed / "archive-v0" / "two", "song.py")):
        place.mkdir(parents=True)
        (place / name).write_text("SONG = 'tweet'\n")
    (seed / "simple-v0").mkdir()
    (seed / "simple-v0" / "index").write_text("canaries\n")
    (cache / half / "archive-v0" / "one").mkdir(parents=True)
    (cache / half / "archive-v0" / "one" / "song.py").symlink_to("/packages/archive-v0/one/song.py")
    (cache / half / "archive-v0" / "one").chmod(0o555)
    cage = Cage(packages=Packages(seed=seed))
    for _ in range(2):
        result = await run(cage, ["sh", "-c", "cat /cache/uv/*/*/song.py /cache/uv/simple-v0/index"], tree, cache)
        assert result == CommandResult(0, False, "SONG = 'tweet'\nSONG = 'tweet'\ncanaries")


async def test_the_commands_of_a_run_share_its_cache(tree: Path, index: Index) -> None:
    cache = tree.parent / "cache"
    cache.mkdir()
    cage = Cage([VENV], packages=index.packages(), dial=index.dial)
    install = ["sh", "-c", "uv venv -q --clear .venv && uv pip install -q canaries"]
    assert (await run(cage, install, tree, cache)).exit_code == 0
    first = list(index.asked)
    assert (await run(cage, install, tree, cache)).exit_code == 0
    assert index.asked == first


def test_pypi_leads_to_its_files_too_and_other_hosts_are_named() -> None:
    assert Packages().reachable == frozenset()
    pypi = Packages("https://pypi.org/simple", (Host("download.pytorch.org"),))
    assert {str(host) for host in pypi.reachable} == {"pypi.org", "files.pythonhosted.org", "download.pytorch.org"}
