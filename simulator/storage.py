"""Google Cloud Storage's JSON API, as far as reading goes: one more origin, for STORAGE_EMULATOR_HOST.

Why not PyPI's `gcp-storage-emulator`, which stores and serves bytes well enough: it takes no notice of `maxResults`,
`pageToken`, `startOffset` and `ifGenerationMatch`, so that a reader that takes the first page for the whole listing, or
an overwritten object for the one that was listed, passes against it; and it cannot be told to fail. What is refused
here is refused in the API's own words (https://cloud.google.com/storage/docs/json_api/v1/status-codes). No credentials
are asked for: the client sends none to an emulator. An object with a `contentEncoding` is served as it lies there.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

from aiohttp import web
from aiohttp.typedefs import Middleware

from simulator.clock import stamp
from simulator.state import StoredObject
from simulator.world import World

_LARGEST_PAGE = 1000
_LISTING_QUERY = {
    "prefix",
    "startOffset",
    "endOffset",
    "maxResults",
    "pageToken",
    "projection",
    "fields",
    "prettyPrint",
}


def storage_app(world: World, middlewares: Sequence[Middleware] = ()) -> web.Application:
    async def listing(request: web.Request) -> web.Response:
        objects = world.buckets.get(request.match_info["bucket"])
        if objects is None:
            return _problem(404, "notFound", "The specified bucket does not exist.")
        if unknown := set(request.query) - _LISTING_QUERY:
            # GitHub's referee for queries, here in little: what is not simulated must not seem to work.
            world.violations.append(f"storage: a listing was asked with {', '.join(sorted(unknown))}")
        return _page(world, request.match_info["bucket"], objects, request.query)

    async def read(request: web.Request) -> web.Response:
        bucket, name = request.match_info["bucket"], request.match_info["name"]
        found = world.buckets.get(bucket, {}).get(name)
        if found is None:
            return _problem(404, "notFound", f"No such object: {bucket}/{name}")
        wanted = request.query.get("ifGenerationMatch")
        if wanted is not None and wanted != str(found.generation):
            return _problem(412, "conditionNotMet", "At least one of the pre-conditions you specified did not hold.")
        if request.query.get("alt") != "media":
            return web.json_response(_metadata(world, bucket, name, found))
        return _media(request, found)

    app = web.Application(middlewares=middlewares)
    app.router.add_get("/storage/v1/b/{bucket}/o", listing)
    app.router.add_get("/storage/v1/b/{bucket}/o/{name:.+}", read)
    app.router.add_get("/download/storage/v1/b/{bucket}/o/{name:.+}", read)
    return app


def _page(world: World, bucket: str, objects: Mapping[str, StoredObject], query: Mapping[str, str]) -> web.Response:
    """Names in the order of their UTF-8 bytes. The token is the last name that was given, wrapped up."""
    after = base64.urlsafe_b64decode(query["pageToken"]).decode() if "pageToken" in query else ""
    names = [
        name
        for name in sorted(objects, key=str.encode)
        if name.startswith(query.get("prefix", ""))
        and name >= query.get("startOffset", "")
        and ("endOffset" not in query or name < query["endOffset"])
        and name > after
    ]
    asked = query.get("maxResults", "")
    size = min(int(asked) if asked.isdigit() and int(asked) > 0 else _LARGEST_PAGE, _LARGEST_PAGE, world.most_listed)
    body: dict[str, Any] = {"kind": "storage#objects"}
    if shown := names[:size]:
        body["items"] = [_metadata(world, bucket, name, objects[name]) for name in shown]
    if len(names) > size:
        body["nextPageToken"] = base64.urlsafe_b64encode(shown[-1].encode()).decode()
    return web.json_response(body)


def _metadata(world: World, bucket: str, name: str, what: StoredObject) -> dict[str, Any]:
    made = stamp(what.created_at)
    metadata = {
        "kind": "storage#object",
        "id": f"{bucket}/{name}/{what.generation}",
        "selfLink": f"{world.links.storage}/storage/v1/b/{bucket}/o/{name}",
        "name": name,
        "bucket": bucket,
        "generation": str(what.generation),
        "metageneration": "1",
        "contentType": what.content_type,
        "storageClass": "STANDARD",
        "size": str(len(what.content)),
        "md5Hash": _md5(what.content),
        "timeCreated": made,
        "updated": made,
    }
    return metadata if what.content_encoding is None else {**metadata, "contentEncoding": what.content_encoding}


def _media(request: web.Request, what: StoredObject) -> web.Response:
    headers = {"X-Goog-Generation": str(what.generation), "X-Goog-Hash": f"md5={_md5(what.content)}"}
    if what.content_encoding is not None:
        headers["Content-Encoding"] = what.content_encoding
    total = len(what.content)
    try:
        wanted = request.http_range
    except ValueError:
        return _problem(400, "invalid", "The Range header is malformed.")
    if wanted.start is None and wanted.stop is None:
        return web.Response(body=what.content, content_type=what.content_type, headers=headers)
    start, stop, _ = wanted.indices(total)
    if start >= total:
        return _problem(416, "requestedRangeNotSatisfiable", "The requested range cannot be satisfied.")
    headers["Content-Range"] = f"bytes {start}-{stop - 1}/{total}"
    return web.Response(status=206, body=what.content[start:stop], content_type=what.content_type, headers=headers)


def _md5(content: bytes) -> str:
    return base64.b64encode(hashlib.md5(content, usedforsecurity=False).digest()).decode()


def _problem(status: int, reason: str, message: str) -> web.Response:
    error = {"domain": "global", "reason": reason, "message": message}
    return web.json_response({"error": {"code": status, "message": message, "errors": [error]}}, status=status)
