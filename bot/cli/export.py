"""`perf-gate export RUN`: one archive that tells of a run anywhere, and that `reanalyse` and `compare` judge again."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

import click
import msgspec

from bot.cli import archive
from bot.cli.plain import plain
from bot.cli.state import looking, refuse, runs_folder
from bot.cli.trace import trace
from bot.cli.trace.past import Past
from bot.cli.trace.screen import lines
from bot.effects.compare import generation
from bot.engine.tables import history
from bot.engine.transaction import Tx
from bot.engine.views import MoveView
from bot.gating.events import Assessed, BaselineFound, Collected, Compared, Rejudged
from bot.gating.model import GateRun, PullRequest, Run
from bot.runs.reading import MACHINE, pulls


@click.command("export", short_help="A run in one archive, to be judged again anywhere.")
@click.argument("run", metavar="RUN|PULL")
@click.option(
    "--to", "file", type=click.Path(path_type=Path, dir_okay=False), help="The archive; default: RUN.tar.gz here."
)
def command(run: str, file: Path | None) -> None:
    """Write a run (by any id that `perf-gate trace` takes) with its reports, configuration, assessment, diff, logs and
    trace to one archive. `perf-gate reanalyse` and `perf-gate compare` read it, also where no bot ever ran. Changes
    nothing of the state, and may be used while the bot runs.
    """
    with looking() as tx:
        told = trace(tx, run)
        key, wanted = _which(tx, told.pull_request, told.run)
        case = _case(tx, key, wanted, told.pull_request)
    files = {"trace.json": msgspec.json.format(msgspec.json.encode(told), indent=2)}
    files["trace.txt"] = "\n".join([*map(plain, lines(told.hops, full=True)), ""]).encode()
    kept = runs_folder()
    for name, path in (kept.files(wanted) if kept else {}).items():
        # Of a run that goes on: the oldest comments and logs make way for new ones.
        with suppress(FileNotFoundError):
            files[name] = path.read_bytes()
    target = file or Path(f"{wanted}.tar.gz")
    try:
        size = archive.write(target, case, files)
    except OSError as error:
        refuse(f"{target} cannot be written: {error.strerror or error}")
    judged = f"{len(case.gates)} judged gate{'' if len(case.gates) == 1 else 's'}"
    click.echo(f"{target}: {size:,} bytes, {judged}, {len(files)} files")


def _which(tx: Tx, title: str, run: str) -> tuple[str, str]:
    """The key and the run that is meant: of a whole pull request, its current one."""
    for key, pull in pulls(tx).items():
        place, wanted = pull.place, run or (pull.run.id if pull.run else "")
        if place is not None and f"{place.full_name}#{place.number}" == title and wanted:
            return key, wanted
    return refuse("that belongs to no run, so there is nothing to export")


def _case(tx: Tx, key: str, wanted: str, title: str) -> archive.Case:
    pull, now = pulls(tx)[key], datetime.now(UTC)
    if pull.run is not None and pull.run.id == wanted:
        run = pull.run
        gates = tuple(_of_gate(run, gate) for gate in run.gates if gate.can_be_judged_again)
        return archive.Case(
            wanted, title, run.head_sha, run.merge_base, run.config_sha, str(run.state), run.config, gates, now
        )
    return _earlier(Past(key, history.of_key(tx, key)), wanted, title, pull, now)


def _of_gate(run: Run, gate: GateRun) -> archive.GateCase:
    baseline, attempt, judgement = gate.baseline, gate.attempt, gate.judgement
    if baseline is None or attempt is None or judgement is None:
        raise AssertionError("only judged gates are asked for")
    return archive.GateCase(
        number=gate.number,
        attempt=attempt.number,
        baseline=baseline.report,
        treatment=attempt.report,
        verdict=judgement.verdict,
        excluded=run.excluded_names(gate.number),
        history=gate.history,
        generation=generation(attempt.machines),
    )


def _earlier(past: Past, wanted: str, title: str, pull: PullRequest, now: datetime) -> archive.Case:
    """A run that a newer one replaced: its state is gone, its log is not."""
    moves = past.of_run(wanted)
    assessed = next((event for move in moves if isinstance(event := MACHINE.load_event(move.event), Assessed)), None)
    state = next((str(earlier.state) for earlier in pull.earlier if earlier.id == wanted), "")
    if assessed is None:
        return archive.Case(wanted, title, "", "", "", state, "", (), now)
    return archive.Case(
        run=wanted,
        pull_request=title,
        head_sha=assessed.head_sha,
        merge_base=assessed.merge_base,
        config_sha=assessed.config_sha,
        state=state,
        config=assessed.config,
        gates=_judged(moves),
        exported_at=now,
    )


def _judged(moves: Sequence[MoveView]) -> tuple[archive.GateCase, ...]:
    """Each gate's last verdict with the reports it was about."""
    baselines, reports, found = dict[int, BaselineFound](), dict[tuple[int, int], str](), dict[int, Compared]()
    for move in moves:
        event = MACHINE.load_event(move.event)
        if isinstance(event, BaselineFound):
            baselines[event.gate] = event
        elif isinstance(event, Collected):
            reports[event.gate, event.attempt] = event.report
        elif isinstance(event, Compared):
            found[event.gate] = event
        elif isinstance(event, Rejudged):
            found |= {verdict.gate: verdict for verdict in event.verdicts}
    return tuple(
        archive.GateCase(
            number=number,
            attempt=judged.attempt,
            baseline=baselines[number].baseline.report,
            treatment=reports[number, judged.attempt],
            verdict=judged.judgement.verdict,
            excluded=judged.excluded,
            history=baselines[number].history,
        )
        for number, judged in sorted(found.items())
        if number in baselines and (number, judged.attempt) in reports
    )
