"""The baseline of a gate: the report of the latest successful scheduled run of its workflow on the default branch.

Source: the zephyr perf-gate skill, "Locate the scheduled baseline" and "Pull the baseline perf report". The run's
artifact comes first, the mirror's copy of it second, the newest other report of the mirror that can be verified last.
The bot never submits a baseline of its own, so what cannot be located is a sentence for the reviewer, and no ferry is
paid for.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from bot.baseline.mirror import Mirrored, Verified
from bot.baseline.model import BaselinePin, Located, Missing, Tier
from bot.baseline.scheduled import not_from_the_schedule, of
from bot.baseline.uploaded import uploaded
from bot.faults import Fault
from bot.github.adapter import GitHub
from bot.github.model import WorkflowRun


async def locate(
    gh: GitHub,
    tier: Tier,
    runs: Sequence[WorkflowRun],
    mirrored: Mirrored | None,
    now: datetime,
    *,
    patient: bool = True,
) -> Located | Missing:
    """Find, download and check the baseline among `runs` (newest first). Fault where GitHub could not be asked.

    Not `patient`: what does not answer now counts as not there, because it was waited for long enough.
    """
    workflow, branch = tier.gate.workflow, tier.default_branch
    if not runs:
        return Missing(f"`{workflow}` has no successful scheduled run on `{branch}`.")
    run = runs[0]
    if (stranger := not_from_the_schedule(run, branch)) is not None:
        return Missing(f"The {of(run)} of `{workflow}` {stranger}, so it is no baseline.")
    try:
        answer = await uploaded(gh, tier, run, now)
    except Fault as fault:
        if patient or mirrored is None:
            raise
        answer = Missing(f"The artifact of {of(run)} could not be read: {fault.public.rstrip('.')}.")
    if not isinstance(answer, Missing):
        pin = BaselinePin(run.id, run.url, run.head_sha, run.created_at, answer.artifact_id, answer.text)
        return Located(pin)
    return answer if mirrored is None else _from_mirror(run, mirrored, answer, patient=patient)


def _from_mirror(run: WorkflowRun, mirrored: Mirrored, artifact: Missing, *, patient: bool) -> Located | Missing:
    same = next((one for one in mirrored.reports if one.run.id == run.id), None)
    if same is not None:
        return Located(_pin(same, artifact.reason))
    if mirrored.trouble and mirrored.passing and patient:
        # The run's own report may be in what was not read; an older one is not taken in its place before that is known.
        return Missing(f"{artifact.reason} The GCS mirror of the reports {mirrored.trouble}.", passing=True)
    if mirrored.reports:
        older = f"{artifact.reason} The mirror has no report of it either; this is the newest that can be verified."
        return Located(_pin(mirrored.reports[0], older))
    if mirrored.trouble:
        return Missing(f"{artifact.reason} The GCS mirror of the reports {mirrored.trouble}.")
    return Missing(
        f"{artifact.reason} The GCS mirror has no report of it, nor one of another scheduled run that can be "
        f"verified{_refusals(mirrored.refused)}."
    )


def _pin(one: Verified, why: str) -> BaselinePin:
    run = one.run
    return BaselinePin(run.id, run.url, run.head_sha, run.created_at, 0, one.text, "mirror", why)


def _refusals(refused: Mapping[str, int]) -> str:
    """`; refused: 2 of …, 1 of …`, in our own words only."""
    if not refused:
        return ""
    counted = ", ".join(f"{count} {reason}" for reason, count in refused.items())
    return f"; refused: {counted}"
