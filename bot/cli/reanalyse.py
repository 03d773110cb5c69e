"""`perf-gate reanalyse ARCHIVE`: a run's reports judged again by the rules of this release, on any machine."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
import msgspec

from bot.cli import archive
from bot.cli.compare import table
from bot.cli.judging import Judge
from bot.cli.state import refuse
from bot.config.schema import RepositoryConfig
from bot.verdict.report import Json, parse_json

_ENCODER = msgspec.json.Encoder(decimal_format="number")


@click.command("reanalyse", short_help="Judge an exported run again.")
@click.argument("file", metavar="ARCHIVE", type=click.Path(path_type=Path, dir_okay=False, exists=True))
@click.option("--gate", type=click.IntRange(1, 3), help="Only this gate.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def command(file: Path, gate: int | None, as_json: bool) -> None:
    """Judge every gate of an ARCHIVE that `perf-gate export` wrote, with the thresholds, exclusions and history that
    the run had. Says where today's rules come to another verdict. Exits 0 whatever it is, 2 where the file cannot be
    read.
    """
    try:
        case = archive.read(file)
    except archive.Unreadable as error:
        refuse(str(error))
    gates = [one for one in case.gates if gate in (None, one.number)]
    if not gates:
        refuse(f"{file}: run {case.run} ended {case.state or 'early'} without a verdict on two reports")
    if as_json:
        found = {"run": case.run, "pull_request": case.pull_request, "gates": [_result(case, one) for one in gates]}
        click.echo(msgspec.json.format(_ENCODER.encode(found), indent=2))
        return
    click.echo(f"run {case.run} of {case.pull_request}, head {case.head_sha}")
    for one in gates:
        judge_pair = judge_of(case, one)
        judgement = judge_pair(parse_json(one.baseline), parse_json(one.treatment))
        same = "as was told" if judgement.verdict == one.verdict else f"was told as {one.verdict}"
        # As bytes: a terminal's or pipe's own encoding may lack Δ and —.
        click.echo(f"\ngate {one.number}, attempt {one.attempt} ({same})\n".encode(), nl=False)
        click.echo(table(judgement, judge_pair.thresholds).encode())


def judge_of(case: archive.Case, gate: archive.GateCase) -> Judge:
    """The judge this gate had. Ends the command with 2 where the pinned configuration cannot be read any more."""
    try:
        config = RepositoryConfig.model_validate_json(case.config)
    except ValueError as error:
        refuse(f"the configuration in the archive cannot be read: {error}")
    return Judge(
        config.thresholds, frozenset(gate.excluded), (None, gate.generation), gate.history, config.verdict.policy
    )


def last_pair(file: Path) -> tuple[Json, Json, Judge]:
    """The pair of an exported run's last judged gate, and the judge it had. Ends the command with 2 without one."""
    try:
        case = archive.read(file)
    except archive.Unreadable as error:
        refuse(str(error))
    if not case.gates:
        refuse(f"{file}: run {case.run} ended {case.state or 'early'} without a verdict on two reports")
    last = case.gates[-1]
    return parse_json(last.baseline), parse_json(last.treatment), judge_of(case, last)


def _result(case: archive.Case, gate: archive.GateCase) -> dict[str, Any]:
    judgement = judge_of(case, gate)(parse_json(gate.baseline), parse_json(gate.treatment))
    return {
        "gate": gate.number,
        "attempt": gate.attempt,
        "was": gate.verdict,
        "verdict": judgement.verdict,
        "judgement": judgement,
    }
