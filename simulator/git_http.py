"""git over smart HTTP (git's own http-protocol.txt): read-only, protocol v0 to v2, user `x-access-token`."""

from __future__ import annotations

import asyncio
import subprocess

from aiohttp import web

from simulator.auth import authenticate_git
from simulator.errors import Refusal, not_accessible
from simulator.git import environment, spooled
from simulator.state import Repository
from simulator.world import World

# Who asked, for the log of requests.
CALLER = web.RequestKey("caller", str)

_CHUNK = 64 * 1024


def add_git_routes(app: web.Application, world: World) -> None:
    async def advertise(request: web.Request) -> web.StreamResponse:
        if request.query.get("service") != "git-upload-pack":
            return web.Response(status=403, text="This GitHub is read-only.")
        repository = await _repository(world, request)
        if isinstance(repository, web.Response):
            return repository
        # Protocol v2 has no service announcement before the capabilities.
        head = b"" if "version=2" in request.headers.get("Git-Protocol", "") else b"001e# service=git-upload-pack\n0000"
        return await _upload_pack(request, repository, head, "--http-backend-info-refs")

    async def upload_pack(request: web.Request) -> web.StreamResponse:
        repository = await _repository(world, request)
        if isinstance(repository, web.Response):
            return repository
        return await _upload_pack(request, repository, b"")

    app.router.add_get("/{owner}/{name}.git/info/refs", advertise)
    app.router.add_post("/{owner}/{name}.git/git-upload-pack", upload_pack)


async def _repository(world: World, request: web.Request) -> Repository | web.Response:
    """The repository, for a caller whose token may read its contents; else the refusal to send."""
    name = f"{request.match_info['owner']}/{request.match_info['name']}"
    try:
        caller = authenticate_git(world, request.headers.get("Authorization"))
        request[CALLER] = caller.kind
        repository = world.repository(name)
        if not caller.may_see(repository):
            raise LookupError(name)
        if caller.reaches(repository) and not caller.allows("contents", "read"):
            raise not_accessible("contents", "read")
    except Refusal as refusal:
        challenge = {"WWW-Authenticate": 'Basic realm="GitHub"'} if refusal.status == 401 else {}
        return web.Response(status=refusal.status, text=refusal.message, headers=challenge)
    except LookupError:
        if "Authorization" not in request.headers:
            return web.Response(
                status=401, text="Repository not found.", headers={"WWW-Authenticate": 'Basic realm="GitHub"'}
            )
        return web.Response(status=404, text="Repository not found.")
    return repository


async def _upload_pack(request: web.Request, repository: Repository, head: bytes, *flags: str) -> web.StreamResponse:
    with spooled(await request.read()) as asked:
        process = await asyncio.to_thread(
            subprocess.Popen,
            [
                "git",
                # As GitHub serves: any object by its SHA, and partial clones.
                *("-c", "uploadpack.allowAnySHA1InWant=true"),
                *("-c", "uploadpack.allowFilter=true"),
                *("upload-pack", "--strict", "--stateless-rpc", *flags, str(repository.git.path)),
            ],
            stdin=asked,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=environment({"GIT_PROTOCOL": request.headers.get("Git-Protocol", "")}),
            bufsize=0,
        )
    stdout = process.stdout
    if stdout is None:
        raise RuntimeError("git was started without the pipe it was asked for")
    kind = "advertisement" if flags else "result"
    response = web.StreamResponse(
        headers={"Content-Type": f"application/x-git-upload-pack-{kind}", "Cache-Control": "no-cache"}
    )
    try:
        await response.prepare(request)
        await response.write(head)
        while chunk := await asyncio.to_thread(stdout.read, _CHUNK):
            await response.write(chunk)
    finally:
        # A client that hung up leaves git writing to nobody.
        process.kill()
        process.wait()
        stdout.close()
    await response.write_eof()
    return response
