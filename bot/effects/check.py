"""The check run, level-triggered like the comment: render what is true now, and write it where it differs."""

from __future__ import annotations

import logging

from bot.comment.check import NAME, Shown, check_run, superseded
from bot.config.addresses import run_page
from bot.effects.context import Context, Rooms, place_of, repo_of
from bot.engine.port import Effect, Outcome
from bot.faults import Fault
from bot.gating.deliveries import run_of_check
from bot.gating.events import Event
from bot.gating.happenings import Pressed
from bot.gating.marks import Check
from bot.gating.model import PullRequest
from bot.gating.written import Checked
from bot.github.checks import Button, CheckRun

_log = logging.getLogger(__name__)


async def check(rooms: Rooms, effect: Effect, context: Context) -> Outcome[Event]:
    pr = await context.read()
    shown, known = check_run(pr, context.clock.now()), pr.check
    # What an attempt of before made may never have been told: GitHub knows.
    in_doubt = not effect.first or (known is not None and not known.digest)
    try:
        if known is not None and in_doubt:
            known = await _newest(rooms, pr, known)
        if known is not None and known.is_open and not _is_of(known, shown):
            done = superseded(shown, known.run_id, known.head_sha)
            await _write(rooms, pr, done, known.number, known.id)
            known = _written(known.id, done, known.number)
        elif known is not None and _is_of(known, shown) and shown is not None and shown.digest == known.digest:
            return Outcome()
        if shown is not None:
            known = await _show(rooms, pr, shown, known)
        if known is not None and in_doubt:
            await _end_strays(rooms, pr, known)
    except Fault as fault:
        if fault.retryable:
            raise
        # The App may not write checks (yet), or was uninstalled. The comment says it all; the next news tries again.
        _log.error("the check run is given up", extra={"effect": effect.id, "why": str(fault)})
        return Outcome()
    return Outcome(Checked(known)) if known is not None else Outcome()


async def find_pulls(rooms: Rooms, effect: Effect, context: Context) -> Outcome[Event]:
    """Re-run all checks, told to each pull request that this App shows a check run for on that commit."""
    place, payload = place_of(await context.read()), effect.payload
    sha = str(payload["head_sha"])
    newest: dict[int, tuple[int, str]] = {}
    for one in await rooms.github.checks.ours(repo_of(place), sha, NAME):
        if (of := run_of_check(one.external_id)) is not None:
            newest[of[1]] = max(newest.get(of[1], (0, "")), (one.id, of[0]))
    for number, (check_id, run_id) in newest.items():
        who, who_id = str(payload["actor"]), int(payload.get("actor_id", 0))
        pressed = Pressed(
            place.installation_id, place.full_name, run_id, sha, check_id, who, "retry", who_id, effect.id
        )
        await rooms.tell(f"{place.repository_id}/{number}", pressed, effect.id)
    return Outcome()


async def _newest(rooms: Rooms, pr: PullRequest, known: Check) -> Check:
    """The last check run of that run: `known`, or one that was made though its answer got lost."""
    ours = f"perf-gate:{known.run_id}:{known.head_sha}:"
    for one in await rooms.github.checks.ours(repo_of(place_of(pr)), known.head_sha, NAME):
        number = int(one.external_id.removeprefix(ours)) if one.external_id.startswith(ours) else 0
        if number > known.number:
            known = Check(one.id, known.run_id, known.head_sha, number, completed=one.completed, is_open=True)
    return known


async def _end_strays(rooms: Rooms, pr: PullRequest, kept: Check) -> None:
    """Of this pull request only `kept` may wait: whatever else was made of a lost answer is ended."""
    place = place_of(pr)
    for one in await rooms.github.checks.ours(repo_of(place), kept.head_sha, NAME):
        of = run_of_check(one.external_id)
        if one.completed or one.id == kept.id or of is None or of[1] != place.number:
            continue
        done = superseded(None, of[0], kept.head_sha)
        await _write(rooms, pr, done, int(one.external_id.rpartition(":")[2]), one.id)


async def _show(rooms: Rooms, pr: PullRequest, shown: Shown, known: Check | None) -> Check:
    number = 1
    if known is not None and _is_of(known, shown):
        # A completed check run never runs again: what runs next is shown by another of the same name.
        number = known.number + (known.completed and shown.status != "completed")
        if number == known.number and await _write(rooms, pr, shown, number, known.id):
            return _written(known.id, shown, number)
    repo, wanted = repo_of(place_of(pr)), _external_id(shown, number)
    for one in await rooms.github.checks.ours(repo, shown.head_sha, NAME):
        if one.external_id == wanted and await _write(rooms, pr, shown, number, one.id):
            return _written(one.id, shown, number)
    made = await rooms.github.checks.create(repo, shown.head_sha, _as_sent(rooms, pr, shown, number))
    return _written(made, shown, number)


async def _write(rooms: Rooms, pr: PullRequest, shown: Shown, number: int, check_id: int) -> bool:
    return await rooms.github.checks.update(repo_of(place_of(pr)), check_id, _as_sent(rooms, pr, shown, number))


def _as_sent(rooms: Rooms, pr: PullRequest, shown: Shown, number: int) -> CheckRun:
    place = place_of(pr)
    pull = f"{rooms.settings.github_url}/{place.full_name}/pull/{place.number}"
    comment = f"{pull}#issuecomment-{pr.comment_id}" if pr.comment_id else pull
    return CheckRun(
        name=NAME,
        external_id=_external_id(shown, number),
        details_url=run_page(rooms.settings.public_url, shown.run_id) or comment,
        status=shown.status,
        conclusion=shown.conclusion,
        title=rooms.public(shown.title),
        summary=rooms.public(shown.summary),
        buttons=tuple(Button(offer.label, offer.description, offer.identifier) for offer in shown.offers),
    )


def _external_id(shown: Shown, number: int) -> str:
    """Found again by it after a crash; a pressed button comes back with it, from forks too."""
    return f"perf-gate:{shown.run_id}:{shown.head_sha}:{number}"


def _written(check_id: int, shown: Shown, number: int) -> Check:
    completed = shown.status == "completed"
    return Check(
        id=check_id,
        run_id=shown.run_id,
        head_sha=shown.head_sha,
        number=number,
        digest=shown.digest,
        completed=completed,
        is_open=not completed or bool(shown.offers),
    )


def _is_of(known: Check, shown: Shown | None) -> bool:
    return shown is not None and (known.run_id, known.head_sha) == (shown.run_id, shown.head_sha)
