"""The figures as a table: ours, the peer's, their ratio, the bound and whether it is met."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Row:
    """`peer` None: nothing to compare with. `bound` is of `ours`, or of ours ÷ peer where `of_ratio`."""

    name: str
    ours: float
    unit: str
    peer: float | None = None
    bound: tuple[str, float] | None = None
    of_ratio: bool = False

    @property
    def ratio(self) -> float | None:
        return self.ours / self.peer if self.peer else None

    @property
    def met(self) -> bool | None:
        if self.bound is None:
            return None
        word, limit = self.bound
        value = self.ratio if self.of_ratio else self.ours
        assert value is not None
        return value >= limit if word == "≥" else value <= limit


def shown(rows: list[Row]) -> str:
    lines = [f"{'':52}{'ours':>13}{'Probot':>13}{'ratio':>8}  {'bound':14}"]
    for row in rows:
        ours = f"{_number(row.ours)} {row.unit}".strip()
        peer = "" if row.peer is None else f"{_number(row.peer)} {row.unit}".strip()
        ratio = "" if row.ratio is None else f"{row.ratio:.2f}"
        bound = ""
        if row.bound is not None:
            bound = f"{'ratio ' if row.of_ratio else ''}{row.bound[0]} {row.bound[1]:g}"
        met = {None: "", True: "met", False: "MISSED"}[row.met]
        lines.append(f"{row.name:52}{ours:>13}{peer:>13}{ratio:>8}  {bound:14} {met}".rstrip())
    return "\n".join(lines)


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.2f}"
