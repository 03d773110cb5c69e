"""Files of a repository at a revision."""

from __future__ import annotations

import base64
import posixpath
from typing import Any
from urllib.parse import quote, urlencode

from simulator.call import Call, Reply
from simulator.errors import Refusal, not_found
from simulator.git import TreeEntry
from simulator.payloads import api_of, page_of
from simulator.state import Repository
from simulator.world import World

Json = dict[str, Any]

# docs.github.com "Get repository content": inline up to 1 MB, raw media type up to 100 MB, nothing above.
MOST_INLINE = 1024 * 1024
MOST_RAW = 100 * 1024 * 1024
_SYMLINK = "120000"
# A link that leads to a link is followed this often, so that a ring of them ends.
_MOST_HOPS = 8


async def get_content(call: Call) -> Reply:
    repository = call.repository("contents", "read")
    ref = call.query.get("ref", repository.default_branch)
    sha = await repository.git.resolve(ref)
    if sha is None:
        raise Refusal(404, f"No commit found for the ref {ref}")
    path = call.params["path"].strip("/")
    if {"", ".", ".."} & set(path.split("/")) and path:
        raise not_found()
    entry = await _entry(repository, sha, path)
    if entry is None or entry.kind == "tree":
        return await _folder(call, repository, sha, ref, path)
    if entry.kind == "commit":
        return Reply(200, {**_facts(call.world, repository, ref, entry), "type": "submodule", "submodule_git_url": ""})
    target = await _follow(repository, sha, entry)
    if target is None:
        goal = (await repository.git.blob(entry.sha)).decode()
        return Reply(200, {**_facts(call.world, repository, ref, entry), "type": "symlink", "target": goal})
    return await _file(call, repository, ref, path, target)


async def _entry(repository: Repository, sha: str, path: str) -> TreeEntry | None:
    found = await repository.git.ls_tree(sha, path) if path else []
    return found[0] if found else None


async def _follow(repository: Repository, sha: str, entry: TreeEntry) -> TreeEntry | None:
    """The file that a symlink leads to inside the repository; None where it leads elsewhere."""
    here: TreeEntry | None = entry
    for _ in range(_MOST_HOPS):
        if here is None or here.mode != _SYMLINK:
            break
        goal = (await repository.git.blob(here.sha)).decode(errors="replace")
        path = posixpath.normpath(posixpath.join(posixpath.dirname(here.path), goal))
        if path.startswith(("/", "..")):
            return None
        here = await _entry(repository, sha, path)
    return here if here is not None and here.kind == "blob" and here.mode != _SYMLINK else None


async def _folder(call: Call, repository: Repository, sha: str, ref: str, path: str) -> Reply:
    entries = await repository.git.ls_tree(sha, f"{path}/" if path else "")
    if not entries:
        raise not_found()
    kinds = {"tree": "dir", "commit": "submodule", "blob": "file"}
    return Reply(
        200,
        [
            {
                **_facts(call.world, repository, ref, entry),
                "type": "symlink" if entry.mode == _SYMLINK else kinds[entry.kind],
            }
            for entry in entries
        ],
    )


async def _file(call: Call, repository: Repository, ref: str, path: str, entry: TreeEntry) -> Reply:
    if entry.size > MOST_RAW:
        raise Refusal(
            403, "This API returns blobs up to 100 MB in size. The requested blob is too large to fetch via the API."
        )
    if call.wants("raw"):
        content = await repository.git.blob(entry.sha)
        return Reply(200, content, content_type="application/vnd.github.raw+json; charset=utf-8")
    inline = entry.size <= MOST_INLINE
    content = await repository.git.blob(entry.sha) if inline else b""
    facts = _facts(call.world, repository, ref, TreeEntry(entry.mode, entry.kind, entry.sha, entry.size, path))
    return Reply(
        200,
        {
            **facts,
            "type": "file",
            "encoding": "base64" if inline else "none",
            # GitHub breaks the lines, so a decoder that is strict about white space must fail here too.
            "content": "".join(f"{line}\n" for line in _lines(base64.b64encode(content).decode())),
        },
    )


def _lines(text: str) -> list[str]:
    return [text[start : start + 60] for start in range(0, len(text), 60)]


def _facts(world: World, repository: Repository, ref: str, entry: TreeEntry) -> Json:
    path = quote(entry.path)
    url = f"{api_of(world, repository)}/contents/{path}?{urlencode({'ref': ref})}"
    git = f"{api_of(world, repository)}/git/{'trees' if entry.kind == 'tree' else 'blobs'}/{entry.sha}"
    html = f"{page_of(world, repository)}/{'tree' if entry.kind == 'tree' else 'blob'}/{quote(ref)}/{path}"
    return {
        "name": posixpath.basename(entry.path),
        "path": entry.path,
        "sha": entry.sha,
        "size": entry.size,
        "url": url,
        "html_url": html,
        "git_url": git,
        "download_url": f"{page_of(world, repository)}/raw/{quote(ref)}/{path}" if entry.kind == "blob" else None,
        "_links": {"self": url, "git": git, "html": html},
    }
