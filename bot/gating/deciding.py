"""How far a run may climb: what lets one person's word stand, and what follows from it."""

from __future__ import annotations

from bot.conversation import replies
from bot.gating import ceiling, climb
from bot.gating.draft import Draft
from bot.gating.events import Assessed
from bot.gating.granting import is_author_called, permissions_of, role_to_waive
from bot.gating.states import RunState
from bot.gating.words import Consent, MaxGate
from bot.gating.written import Asked


def assessed(draft: Draft, event: Assessed) -> None:
    """Ask, unless an explicit max_gate of the first mention has answered already.

    That word holds for the head it was said about, and not for a fork, whose question warns of what its code is handed.
    """
    if not climb.assessed(draft, event):
        return
    consent, chosen = draft.run.consent, draft.run.requested
    if consent is not None and chosen is not None and _holds(draft, consent, chosen, event):
        decide(draft, consent.by, chosen, draft.run.requested_reason)
    else:
        climb.ask(draft)


def asked(draft: Draft, event: Asked) -> None:
    at, before = event.at, draft.run.asked_at if draft.run.question_id == event.comment_id else None
    if at is not None and before is not None:
        # Written again, it asks no earlier than it did.
        at = max(at, before)
    draft.change(question_id=event.comment_id, asked_at=at or before)
    draft.weigh_held()


def _holds(draft: Draft, consent: Consent, chosen: MaxGate, event: Assessed) -> bool:
    """Whether the word given before the assessment answers it."""
    its_author = is_author_called(draft.pr, consent.by) if consent.is_author is None else consent.is_author
    same = consent.head_sha == event.head_sha and consent.base_ref in ("", event.base_ref) and not event.is_fork
    return same and refusal(draft, its_author, chosen, consent.granted) is None


def refusal(draft: Draft, its_author: bool, chosen: MaxGate, granted: tuple[str, ...]) -> str | None:
    """Why this person (`its_author`: of the pull request) cannot let `chosen` stand for the assessed run, or None."""
    run = draft.run
    meant, named_by = ceiling.bar(run, draft.author)
    if its_author and ceiling.weakens(run, chosen, draft.author):
        return replies.author_cannot_waive(chosen, meant, role_to_waive(run, chosen), named_by)
    differs = ceiling.climbs(run, chosen) != ceiling.climbs(run, meant)
    family = "skip" if chosen == "skip" else "override" if differs else "go"
    return None if family in granted else replies.not_granted(chosen, getattr(permissions_of(run), family))


def decide(draft: Draft, actor: str, chosen: MaxGate, reason: str) -> None:
    """Let `chosen` stand: waive, or prepare the run. What differs from the assessment is recorded."""
    run, override = draft.run, ""
    judged = run.assessment is not None and run.assessment.in_scope
    # A pull request that is not the gate's affair runs only because somebody overrode that: it is recorded too.
    if chosen != ceiling.judged(run.assessment) or (not judged and run.requested is not None):
        kept = reason or (run.requested_reason if chosen == run.requested else "")
        named, by = ceiling.highest_named(run, draft.author), actor
        if named.by and named.max_gate == chosen and not reason:
            # Who only agrees to what another named overrides nothing.
            by, kept = named.by, named.reason or kept
        override = replies.override(by, chosen, kept)
    draft.change(max_gate=chosen, approved_by=actor, override=override)
    draft.reason = f"{actor} answered {chosen}"
    if chosen == "skip":
        draft.end(RunState.waived, reason)
    else:
        climb.prepare(draft)
