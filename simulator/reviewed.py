"""Where GitHub and its own descriptions differ: each difference the referees forgive, and why. Nothing else is."""

from __future__ import annotations

from typing import Any

Json = dict[str, Any]

# @octokit/webhooks-schemas ended in 2023 and rejects unknown keys. These came later; the current webhook description,
# which judges the same payload, has them all. (key → the last key of the path it stands under)
NEWER_THAN_STRICT: dict[str, frozenset[str]] = {
    # Every account, since 2024.
    "user_view_type": frozenset({"user", "owner", "sender", "account", "merged_by", "suspended_by"}),
    # The App that wrote a comment or a check run, and the installation's App.
    "client_id": frozenset({"performed_via_github_app", "installation", "app"}),
}

# Keys that are null where the older schemas know only "absent". (event → keys at its top)
NULL_IS_ABSENT_IN_STRICT: dict[str, frozenset[str]] = {
    # Nobody requested the installation: it was made directly.
    "installation": frozenset({"requester"}),
}

# Values that came later. (the last key of the path, key, value → as it was said before)
NEWER_VALUES: dict[tuple[str, str, str], str] = {("check_suite", "conclusion", "skipped"): "neutral"}

# Keys the older webhook schemas require and GitHub does not send for an App's own hook.
LACKING_IN_STRICT: dict[str, Json] = {
    "ping": {
        "url": "https://api.github.com/app/hook/config",
        "ping_url": "https://api.github.com/app/hook/pings",
    },
}

# Query values described as one date, which take GitHub's date syntax (`>=2026-11-01`, `2026-11-01..2026-11-30`).
DATE_SYNTAX_QUERIES = frozenset({"created"})


def for_strict(event: str, payload: Any, under: str = "") -> Any:
    """The payload as @octokit/webhooks-schemas knew it."""
    if isinstance(payload, list):
        return [for_strict(event, item, under) for item in payload]
    if not isinstance(payload, dict):
        return payload
    known = {
        key: NEWER_VALUES.get((under, key, str(value))) or for_strict(event, value, key)
        for key, value in payload.items()
        if under not in NEWER_THAN_STRICT.get(key, frozenset())
        and not (value is None and key in NULL_IS_ABSENT_IN_STRICT.get("" if under else event, frozenset()))
    }
    if under == "hook":
        known = {**LACKING_IN_STRICT.get(event, {}), **known}
    return known


def for_rest(operation: str, status: int, body: Any) -> Any:
    """The response as the API's description would have it."""
    if operation == "GET /repos/{owner}/{repo}/pulls/{pull_number}" and status == 200:
        return _with_head_repository(body)
    return body


def for_current(event: str, payload: Json) -> Json:
    """The payload as @octokit/openapi-webhooks would have it."""
    if event == "pull_request":
        return {**payload, "pull_request": _with_head_repository(payload["pull_request"])}
    return payload


def _with_head_repository(pull: Any) -> Any:
    """`head.repo` is null once the fork is deleted; the API's description and some webhooks' do not know that."""
    if not isinstance(pull, dict) or not isinstance(pull.get("head"), dict) or pull["head"].get("repo", "") is not None:
        return pull
    return {**pull, "head": {**pull["head"], "repo": pull["base"]["repo"]}}
