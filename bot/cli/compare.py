"""`perf-gate compare`: judge two perf reports, or a stream of pairs, as the bot would. Touches no network."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final

import click
import msgspec

from bot.cli.archive import is_archive
from bot.cli.judging import Judge
from bot.config.schema import Band, Thresholds
from bot.verdict.judge import not_comparable
from bot.verdict.model import Judgement, Noise, Policy, Row
from bot.verdict.past import PastRun, earlier_reports
from bot.verdict.report import Json, PerfReport, parse_json, printable, validate_report
from bot.verdict.wording import number, percent, rough

STANDARD_INPUT: Final = "-"
_ENCODER = msgspec.json.Encoder(decimal_format="number")


class Refusal(click.ClickException):
    """Input that cannot be read ends like a wrong option."""

    exit_code = 2


@click.command("compare", short_help="Judge two perf reports, by the table or the tier's noise.")
@click.argument("baseline", required=False, type=click.Path(path_type=Path))
@click.argument("treatment", required=False, type=click.Path(path_type=Path))
@click.option("--json", "form", flag_value="json", help="Print the result as one JSON object.")
@click.option("--markdown", "form", flag_value="markdown", help="Print the tables of the pull request comment.")
@click.option(
    "--jsonl",
    "form",
    flag_value="jsonl",
    help='Judge pairs from standard input, a {"baseline", "treatment"} a line; "history" may hold earlier reports.',
)
@click.option(
    "--history",
    "history_folder",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    help="A folder of the tier's earlier scheduled reports (*.json, searched deep): tells what each delta is worth.",
)
@click.option(
    "--policy",
    type=click.Choice(["table", "calibrated"]),
    help="Which reading decides deltas: the fixed table, or the noise of --history. Default: the config's, else table.",
)
@click.option(
    "--exclude", "excluded", multiple=True, metavar="STAGE", help='Do not count this stage (or "total"). Repeatable.'
)
@click.option("--config", "config_file", type=click.Path(path_type=Path), help="Take the rules of a perf-gate.toml.")
@click.option(
    "--worker-generations",
    nargs=2,
    metavar="BASELINE TREATMENT",
    help="The machine generations the two ran on; different ones make the pair inconclusive.",
)
def command(
    baseline: Path | None,
    treatment: Path | None,
    form: str | None,
    excluded: tuple[str, ...],
    config_file: Path | None,
    worker_generations: tuple[str, str] | None,
    history_folder: Path | None,
    policy: Policy | None,
) -> None:
    """Compare a BASELINE and a TREATMENT perf report (JSON files; one of them may be -, standard input), or the pair
    that the last gate of an exported run was judged by (one file, an archive of `perf-gate export`).

    Exits 0 whenever a verdict was computed, whichever it is, and 2 where a file cannot be read.
    """
    ours_on, theirs_on = worker_generations or ("", "")
    # An empty generation is an unknown one: a script's unset variable.
    thresholds, configured = _rules(config_file)
    judge_pair = Judge(
        thresholds,
        frozenset(excluded),
        (ours_on or None, theirs_on or None),
        _history(history_folder),
        policy or configured,
    )
    if form != "jsonl" and baseline is not None and treatment is None and is_archive(baseline):
        from bot.cli.reanalyse import last_pair

        ours, theirs, had = last_pair(baseline)
        click.echo(_rendered(form, ours, theirs, had.with_options(judge_pair, bool(config_file), policy)).encode())
        return
    if form == "jsonl":
        if baseline is not None:
            raise click.UsageError("--jsonl reads pairs from standard input; leave the file names out.")
        for line in judged_lines(sys.stdin.buffer, judge_pair):
            sys.stdout.buffer.write(line)
            # Whoever writes one pair and waits for its result gets it.
            sys.stdout.buffer.flush()
        return
    if baseline is None or treatment is None:
        raise click.UsageError(
            "Name two report files, BASELINE and TREATMENT, or one archive of perf-gate export (.tar.gz), "
            "or give pairs with --jsonl, alone."
        )
    if str(baseline) == str(treatment) == STANDARD_INPUT:
        raise click.UsageError("Only one of the two reports can be standard input; give the other one's file.")
    ours, theirs = _read(baseline), _read(treatment)
    # As bytes: a terminal's or pipe's own encoding may lack Δ and —.
    click.echo(_rendered(form, ours, theirs, judge_pair).encode())


def judged_lines(lines: Iterable[bytes], judge_pair: Judge) -> Iterator[bytes]:
    """One JSON result a line, in order; a malformed line has a result that says what is wrong with it."""
    for count, line in enumerate(lines, start=1):
        yield _ENCODER.encode(_result(_judge_line(line, count, judge_pair))) + b"\n"


def _judge_line(line: bytes, count: int, judge_pair: Judge) -> Judgement:
    if not line.strip():
        return not_comparable([f"line {count} is empty; expected an object with baseline and treatment."])
    try:
        pair = parse_json(line)
    except ValueError as error:
        return not_comparable([f"line {count} {error}."])
    if not isinstance(pair, dict):
        return not_comparable([f"line {count} is not a JSON object with baseline and treatment."])
    if missing := [side for side in ("baseline", "treatment") if side not in pair]:
        return not_comparable([f"line {count} has no {' and no '.join(missing)}."])
    if (given := pair.get("history")) is None:
        return judge_pair(pair["baseline"], pair["treatment"])
    if not isinstance(given, list):
        return not_comparable([f"line {count} has a history that is not a list of reports."])
    return judge_pair(pair["baseline"], pair["treatment"], earlier_reports(given).runs)


def _result(judgement: Judgement) -> dict[str, Any]:
    """The documented shape of a result; footnotes are for readers of the table. `noise` and what the other reading
    said stand only where there is history."""
    by_noise = {
        "noise": judgement.noise,
        "other_verdict": judgement.other_verdict,
        "other_reasons": judgement.other_reasons,
    }
    return {
        "verdict": judgement.verdict,
        "reasons": judgement.reasons,
        "total": judgement.total,
        "memory": judgement.memory,
        "stages": judgement.stages,
        "flags": judgement.flags,
        "policy": judgement.policy,
        "tree": judgement.tree,
        **(by_noise if judgement.noise is not None else {}),
        **({"fallback": judgement.fallback} if judgement.fallback else {}),
    }


def _json_text(judgement: Judgement) -> str:
    return msgspec.json.format(_ENCODER.encode(_result(judgement)), indent=2).decode()


def _rendered(form: str | None, baseline: Json, treatment: Json, judge_pair: Judge) -> str:
    judgement = judge_pair(baseline, treatment)
    match form:
        case "json":
            return _json_text(judgement)
        case "markdown":
            from bot.comment.noise import disagreement, noise_section
            from bot.comment.tables import comparison

            ours, theirs = (_usable(report) for report in (baseline, treatment))
            worth = noise_section(judgement, ours, theirs, judge_pair.thresholds)
            told = [disagreement(judgement), comparison(judgement, ours, theirs, judge_pair.thresholds), worth]
            return "\n\n".join(part for part in told if part)
        case _:
            return table(judgement, judge_pair.thresholds)


def _usable(report: Json) -> PerfReport | None:
    validated = validate_report(report)
    return validated if isinstance(validated, PerfReport) else None


def table(judgement: Judgement, thresholds: Thresholds) -> str:
    """A short table for a terminal."""
    rows = [
        ("Signal", "Baseline", "Treatment", "Δ", "Verdict"),
        ("total (s)", *_cells(judgement.total, thresholds.total)),
        ("memory (MB)", *_cells(judgement.memory, thresholds.memory)),
        *((f"{printable(name, 40)} (s)", *_cells(row, thresholds.stage)) for name, row in judgement.stages.items()),
    ]
    widths = [max(len(row[column]) for row in rows) for column in range(5)]
    lines = [f"Verdict: {judgement.verdict}", *(f"  {reason}" for reason in judgement.reasons)]
    lines += [f"Decided by the fixed table: {judgement.fallback}", ""] if judgement.fallback else [""]
    for name, *values in rows:
        cells = [name.ljust(widths[0]), *(value.rjust(width) for value, width in zip(values, widths[1:], strict=True))]
        lines.append("  ".join(cells).rstrip())
    noise = judgement.noise
    if judgement.other_verdict not in (None, judgement.verdict):
        other = "noise" if judgement.policy == "table" else "table"
        lines += ["", f"By the {other}: {judgement.other_verdict}", *(f"  {said}" for said in judgement.other_reasons)]
    worth = tuple(told_readings(noise)) if noise is not None else ()
    titled = (("Flags", judgement.flags), ("Notes", judgement.footnotes), ("What the deltas are worth", worth))
    for title, sentences in titled:
        if sentences:
            lines += ["", title, *(f"  {sentence}" for sentence in sentences)]
    return "\n".join(lines)


def _cells(row: Row, band: Band) -> tuple[str, str, str, str]:
    ours, theirs = ("—" if value is None else number(value) for value in (row.baseline, row.treatment))
    change = "—" if row.delta is None else percent(row.delta, band.warn_percent, band.fail_percent)
    return ours, theirs, change, row.verdict


def told_readings(noise: Noise) -> Iterator[str]:
    """A line a signal: its change from the usual, and what that means."""
    from bot.comment.noise import meaning, smallest_visible

    named = [("total", noise.total), ("memory", noise.memory)]
    named += [(printable(name, 40), reading) for name, reading in noise.stages.items()]
    named += [(f"{printable(name, 40)}, work", reading) for name, reading in noise.work.items()]
    found = [(name, reading) for name, reading in named if reading is not None]
    for name, reading in found:
        yield f"{name}: {rough(reading.change)} from its usual, {meaning(reading, 'its').replace('*', '')}"
    yield smallest_visible(noise) if found else f"Too few earlier runs to tell: {noise.n}."


def _history(folder: Path | None) -> tuple[PastRun, ...]:
    if folder is None:
        return ()
    found: list[tuple[str, Json]] = []
    for file in sorted(folder.rglob("*.json")):
        try:
            found.append((str(file.relative_to(folder)), parse_json(file.read_bytes())))
        except (OSError, ValueError) as error:
            click.echo(f"{file} is left out of the history: it {error}.", err=True)
    earlier = earlier_reports([report for _, report in found], [name for name, _ in found])
    for name, why in earlier.left_out.items():
        click.echo(f"{folder / name} is left out of the history: {why.rstrip('.')}.", err=True)
    if not found:
        click.echo(f"{folder} holds no *.json file that can be read: no history.", err=True)
    return earlier.runs


def _rules(config_file: Path | None) -> tuple[Thresholds, Policy]:
    if config_file is None:
        return Thresholds(), "table"
    from bot.config.load import BadConfig, load_repository_config

    try:
        text = config_file.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise _unreadable(str(config_file), error, "perf-gate.toml") from None
    try:
        config = load_repository_config(text, str(config_file))
        return config.thresholds, config.verdict.policy
    except BadConfig as error:
        raise Refusal(str(error)) from None


def _read(file: Path) -> Json:
    name = "standard input" if str(file) == STANDARD_INPUT else str(file)
    try:
        return parse_json(sys.stdin.buffer.read() if str(file) == STANDARD_INPUT else file.read_bytes())
    except OSError as error:
        raise _unreadable(name, error, "perf report, a JSON file") from None
    except ValueError as error:
        raise Refusal(f"{name} {error}. Expected a perf report, as the tier workflows upload it.") from None


def _unreadable(file: str, error: OSError | UnicodeDecodeError, expected: str) -> Refusal:
    detail = (error.strerror or str(error)) if isinstance(error, OSError) else "not UTF-8 text"
    return Refusal(f"{file} cannot be read: {detail}. Give the path of a readable {expected}.")
