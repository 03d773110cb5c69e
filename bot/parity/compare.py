"""A launch as a file has it beside the launch that a gate's configuration makes."""

from __future__ import annotations

import re
from collections.abc import Iterator

from bot.config.schema import Gate
from bot.parity import script, workflow
from bot.parity.model import Difference, Parity, Shape, Source, Unread, Unreadable, Value

FOLDER = ".github/workflows"
# What must be alike for two runs to be compared (seed 002: "Drift … breaks parity").
COMPARED = {
    "region": "region",
    "memory": "memory",
    "disk": "disk",
    "cpu": "cpu",
    "priority": "priority",
    "preemptible": "preemptibility",
    "extra": "extras",
    "enable_extra_resources": "extra resources",
    "ferry_module": "ferry module",
    "arguments": "arguments of the ferry",
}
# Named anew for every attempt of every side.
PER_RUN = frozenset({"SMOKE_RUN_ID", "FERRY_STATUS_PATH"})
_SIZE = re.compile(r"(\d+(?:\.\d+)?)([KMGT])B?", re.IGNORECASE)
_MOST = 20


def compare(gate: Gate, number: int, sha: str, workflow_text: str | None, script_text: str | None) -> Parity:
    """`workflow_text` and `script_text` are the files at commit `sha`, None where there is none or none was read."""
    differences: list[Difference] = []
    unverified: list[str] = []
    launched = workflow.read(workflow_text) if workflow_text is not None else Unreadable("could not be read")
    if isinstance(launched, Unreadable):
        unverified.append(f"`{FOLDER}/{gate.workflow}` {launched.why}")
    else:
        _beside(launched, gate, "workflow", differences, unverified)
    if script_text is not None:
        by_hand = script.read(script_text, number)
        if isinstance(by_hand, Unreadable):
            unverified.append(f"`{script.PATH}` {by_hand.why}")
        else:
            _beside(by_hand, gate, "script", differences, unverified)
    return Parity(sha, tuple(differences[:_MOST]), tuple(unverified[:_MOST]))


def _beside(theirs: Shape, gate: Gate, source: Source, differences: list[Difference], unverified: list[str]) -> None:
    ours = shape_of(gate)
    for key, what in COMPARED.items():
        their, our = theirs.values.get(key), ours.values.get(key)
        if isinstance(their, Unread):
            unverified.append(f"{what}: {_told(their)} is set when the {source} runs")
        elif their is None and our is not None and theirs.opaque:
            unverified.append(f"{what}: may be among `{' '.join(theirs.opaque)}`")
        elif _plain(their) != _plain(our):
            differences.append(Difference(what, _told(their), _told(our), source))
    for name, difference in _environment(theirs, gate):
        if isinstance(difference, str):
            unverified.append(difference)
        else:
            differences.append(Difference(f"environment `{name}`", *difference, source))
    # What it stands for may choose a region that neither names, or give once more what stands beside it.
    for word in (*theirs.opaque, *theirs.beside):
        unverified.append(f"`{word}` is set when the {source} runs, and with it perhaps other options than these")
    if theirs.other:
        unverified.append(f"the {source} also gives `{' '.join(theirs.other)}`, for which a gate has no key")


def _environment(theirs: Shape, gate: Gate) -> Iterator[tuple[str, str | tuple[str, str]]]:
    """(name, why it is not verified, or the two values) of each variable that is not the same."""
    for name in sorted({*theirs.environment, *gate.environment} - PER_RUN):
        their, our = theirs.environment.get(name), gate.environment.get(name)
        if isinstance(their, Unread):
            # Credentials and what a tracker is told come so: no file says what they are.
            yield name, f"environment `{name}`: {_told(their)} is set when it runs"
        elif their is None and theirs.opaque:
            yield name, f"environment `{name}`: may be among `{' '.join(theirs.opaque)}`"
        elif their != our:
            yield name, (_told(their), _told(our))


def shape_of(gate: Gate) -> Shape:
    """What the bot launches for this gate (`bot.iris.submit.flags`)."""
    flags = gate.flags
    return Shape(
        {
            "region": (flags.region,) if flags.region else None,
            "memory": flags.memory,
            "disk": flags.disk,
            "cpu": None if flags.cpu is None else str(flags.cpu),
            "priority": flags.priority,
            "preemptible": flags.preemptible,
            "extra": tuple(sorted(flags.extra)) or None,
            "enable_extra_resources": flags.enable_extra_resources or None,
            "ferry_module": gate.ferry_module,
        },
        gate.environment,
    )


def _plain(value: Value) -> Value:
    """Equal for what means the same: `2G` and `2GB`, `1` and `1.0`."""
    if not isinstance(value, str):
        return value
    if size := _SIZE.fullmatch(value):
        return f"{float(size[1]):g}{size[2].upper()}"
    return f"{float(value):g}" if re.fullmatch(r"\d+(\.\d+)?", value) else value


def _told(value: Value) -> str:
    if value is None:
        return "none"
    if isinstance(value, Unread):
        return f"`{value.written}`"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return ", ".join(f"`{one}`" for one in ([value] if isinstance(value, str) else value))
