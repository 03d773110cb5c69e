"""A real repository behind git's own smart-HTTP program, guarded by Basic authentication like GitHub's."""

from __future__ import annotations

import asyncio
import base64
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

from aiohttp import web

IDENTITY = {
    "GIT_AUTHOR_NAME": "Ada",
    "GIT_AUTHOR_EMAIL": "ada@example.org",
    "GIT_COMMITTER_NAME": "Ada",
    "GIT_COMMITTER_EMAIL": "ada@example.org",
    "GIT_AUTHOR_DATE": "2026-06-18T10:00:00Z",
    "GIT_COMMITTER_DATE": "2026-06-18T10:00:00Z",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "HOME": "/nonexistent",
    "PATH": "/usr/local/bin:/usr/bin:/bin",
}

Content = bytes | str
"""bytes: a regular file. A str: a symbolic link to it."""


@dataclass
class Origin:
    """A bare repository whose commits are made from dictionaries, so that any name and any mode can be written."""

    folder: Path
    token: str = "ghs_secret"
    seen: list[str] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)
    broken_with: int | None = None

    @classmethod
    def create(cls, folder: Path) -> Origin:
        origin = cls(folder)
        folder.mkdir(parents=True)
        origin.git("init", "--quiet", "--bare", "--initial-branch=main", ".")
        return origin

    def git(self, *arguments: str | bytes, stdin: bytes = b"") -> str:
        done = subprocess.run(
            ["git", *arguments], cwd=self.folder, env=IDENTITY, input=stdin, capture_output=True, check=True
        )
        return done.stdout.decode().strip()

    def commit(self, ref: str, files: dict[bytes | str, Content], *parents: str) -> str:
        """Write a commit with exactly these files and point `ref` at it; its SHA."""
        tree = self._tree({name if isinstance(name, bytes) else name.encode(): value for name, value in files.items()})
        sha = self.git("commit-tree", tree, "-m", "change", *[part for parent in parents for part in ("-p", parent)])
        self.git("update-ref", ref, sha)
        return sha

    def _tree(self, files: dict[bytes, Content]) -> str:
        entries, folders = [], dict[bytes, dict[bytes, Content]]()
        for path, content in files.items():
            name, slash, rest = path.partition(b"/")
            if slash:
                folders.setdefault(name, {})[rest] = content
                continue
            data, mode = (content, "100644") if isinstance(content, bytes) else (content.encode(), "120000")
            if data.startswith(b"#!"):
                mode = "100755"
            blob = self.git("hash-object", "-w", "--stdin", stdin=data)
            entries.append((name, mode, blob))
        entries += [(name, "40000", self._tree(below)) for name, below in folders.items()]
        # hash-object --literally writes trees that mktree and a checkout would refuse, as an attacker's git would.
        raw = b"".join(f"{mode} ".encode() + name + b"\0" + bytes.fromhex(sha) for name, mode, sha in sorted(entries))
        return self.git("hash-object", "-w", "-t", "tree", "--literally", "--stdin", stdin=raw)

    def app(self) -> web.Application:
        app = web.Application()
        app.router.add_route("*", "/{owner}/{name}.git/{path:.*}", self._serve)
        return app

    async def _serve(self, request: web.Request) -> web.Response:
        self.asked.append(request.path)
        if self.broken_with:
            return web.Response(status=self.broken_with)
        expected = "Basic " + base64.b64encode(f"x-access-token:{self.token}".encode()).decode()
        self.seen.append(request.headers.get("Authorization", ""))
        if request.headers.get("Authorization") != expected:
            return web.Response(status=401, headers={"WWW-Authenticate": 'Basic realm="GitHub"'})
        process = await asyncio.create_subprocess_exec(
            "git",
            "http-backend",
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            env={
                **IDENTITY,
                "GIT_PROJECT_ROOT": str(self.folder),
                "GIT_HTTP_EXPORT_ALL": "1",
                "PATH_INFO": "/" + request.match_info["path"],
                "QUERY_STRING": request.query_string,
                "REQUEST_METHOD": request.method,
                "CONTENT_TYPE": request.headers.get("Content-Type", ""),
                "HTTP_CONTENT_ENCODING": request.headers.get("Content-Encoding", ""),
                "GIT_PROTOCOL": request.headers.get("Git-Protocol", ""),
            },
        )
        output, _ = await process.communicate(await _raw_body(request) or None)
        head, _, body = output.partition(b"\r\n\r\n")
        headers = dict(line.split(": ", 1) for line in head.decode().split("\r\n"))
        return web.Response(status=int(headers.pop("Status", "200")[:3]), headers=headers, body=body)


async def _raw_body(request: web.Request) -> bytes:
    data = await request.read()
    # aiohttp has already undone the compression that the header announces.
    if request.headers.get("Content-Encoding") == "gzip":
        import gzip

        return data if data[:2] == b"\x1f\x8b" else gzip.compress(data)
    return data
