"""The states of a run, named so that they read aloud, and which of them are ends."""

from __future__ import annotations

from enum import StrEnum


class RunState(StrEnum):
    assessing = "assessing"
    awaiting_reviewer = "awaiting_reviewer"
    preparing = "preparing"
    testing = "testing"
    locating_baseline = "locating_baseline"
    queued = "queued"
    submitting = "submitting"
    ferrying = "ferrying"
    collecting = "collecting"
    comparing = "comparing"
    awaiting_escalation = "awaiting_escalation"

    passed = "passed"
    warned = "warned"
    failed = "failed"
    inconclusive = "inconclusive"
    waived = "waived"
    halted = "halted"
    stopped = "stopped"
    out_of_scope = "out_of_scope"
    stuck = "stuck"

    @property
    def ended(self) -> bool:
        return self in ENDS

    @property
    def has_live_ferry(self) -> bool:
        """A job of ours may exist on the cluster, or its slot is not yet given back."""
        return self in (RunState.submitting, RunState.ferrying)


# The ferry has ended, and what it measured is about to be told.
JUDGING = (RunState.collecting, RunState.comparing)
ENDS = frozenset(
    {
        RunState.passed,
        RunState.warned,
        RunState.failed,
        RunState.inconclusive,
        RunState.waived,
        RunState.halted,
        RunState.stopped,
        RunState.out_of_scope,
        RunState.stuck,
    }
)
