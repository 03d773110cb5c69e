"""A tier's workflow beside the gate's configuration: what is the same, what differs, and what nobody can know."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.config.load import builtin_config
from bot.config.schema import Gate
from bot.parity.compare import compare
from bot.parity.model import Parity

FILES = Path(__file__).parent / "files"
TIER1, TIER3 = ((FILES / f"tier{n}.yaml").read_text("utf-8") for n in (1, 3))
SCRIPT = (FILES / "submit_perf_run.py.txt").read_text("utf-8")
SHA = "c" * 40


def gate(number: int, **flags: object) -> Gate:
    """A gate of the built-in ladder with other flags."""
    found = next(gate for n, gate in builtin_config().gates.items() if n == number)
    return found.model_copy(update={"flags": found.flags.model_copy(update=flags)})


def parity(workflow: str | None, number: int = 1, script: str | None = None, **flags: object) -> Parity:
    return compare(gate(number, **flags), number, SHA, workflow, script)


def told(found: Parity) -> list[str]:
    return [str(one) for one in found.differences]


@pytest.mark.parametrize(("workflow", "number"), [(TIER1, 1), (TIER3, 3)])
def test_the_ladder_launches_as_the_tier_workflows_do(workflow: str, number: int) -> None:
    assert parity(workflow, number, SCRIPT).differences == ()


def test_variables_are_shown_as_unverified_and_never_guessed() -> None:
    # WANDB_ENTITY stands in the file's own `env`, and might be overridden all the same.
    assert list(parity(TIER1).unverified) == [
        "environment `HF_TOKEN`: `$HF_TOKEN` is set when it runs",
        "environment `WANDB_ENTITY`: `$WANDB_ENTITY` is set when it runs",
        "the workflow also gives `--timeout 21600`, for which a gate has no key",
    ]


@pytest.mark.parametrize(
    ("was", "becomes", "says"),
    [
        ("--memory=2G", "--memory=4G", "memory: the tier's workflow has `4G`, the gate's configuration `2G`"),
        ("--memory=2G", "", "memory: the tier's workflow has none, the gate's configuration `2G`"),
        ("--disk=4G", "--disk 8GB", "disk: the tier's workflow has `8GB`, the gate's configuration `4G`"),
        ("--cpu=1", "--cpu=0.5", "cpu: the tier's workflow has `0.5`, the gate's configuration `1`"),
        ("--priority production", "--priority batch", "priority: the tier's workflow has `batch`"),
        ("--cpu=1", "--cpu=1 --region=us-west4", "region: the tier's workflow has `us-west4`, the gate's"),
        ("--cpu=1", "--cpu=1 --no-preemptible", "preemptibility: the tier's workflow has no, the gate's"),
        ("--extra=cpu", "--extra=cpu --extra=tpu", "extras: the tier's workflow has `cpu`, `tpu`, the gate's"),
        ("--extra=cpu", "--extra=cpu --enable-extra-resources", "extra resources: the tier's workflow has yes"),
        ("-m experiments.ferries.datakit_ferry", "-m other", "ferry module: the tier's workflow has `other`"),
        ("datakit_ferry)", "datakit_ferry --small)", "arguments of the ferry: the tier's workflow has `--small`"),
        ('HF_TOKEN "$HF_TOKEN"', "FERRY_FILES 7", "environment `FERRY_FILES`: the tier's workflow has `7`"),
    ],
)
def test_every_difference_is_spelled_out(was: str, becomes: str, says: str) -> None:
    workflow = TIER1.replace(was, becomes)
    assert workflow != TIER1
    (only,) = told(parity(workflow))
    assert only.startswith(says)


def test_sizes_and_numbers_written_otherwise_are_the_same() -> None:
    workflow = TIER1.replace("--memory=2G --disk=4G --cpu=1", "--memory 2GB --disk=4.0g --cpu 1.0")
    assert told(parity(workflow)) == []


def test_a_variable_of_the_gate_that_the_workflow_lacks_is_a_difference() -> None:
    (only,) = told(parity(TIER3.replace('-e FERRY_TEST_MAX_FILES "1000"', "-e X $Y"), 3))
    assert only == "environment `FERRY_TEST_MAX_FILES`: the tier's workflow has none, the gate's configuration `1000`"


@pytest.mark.parametrize("given", ["$FLAGS", '"${FLAGS[@]}"', "$(flags of the day)", "${{ inputs.flags }}"])
def test_options_behind_a_variable_may_be_any(given: str) -> None:
    found = parity(TIER1.replace("--memory=2G --disk=4G --cpu=1", f"{given} --memory=2G"))
    assert found.differences == ()
    assert any(line.startswith("disk: may be among `") for line in found.unverified)
    assert any(line.startswith("cpu: may be among `") for line in found.unverified)


@pytest.mark.parametrize(
    ("was", "becomes"),
    [
        ("--cpu=1", "--cpu=1 $FLAGS"),
        ("--priority production", '--priority production "${FLAGS[@]}"'),
        (" job run", " $FLAGS job run"),
    ],
)
def test_a_word_that_may_be_any_option_is_never_passed_over(was: str, becomes: str) -> None:
    """What stands beside it is no proof: it may choose a region that neither side names, or a memory once more."""
    assert parity(TIER1).unverified == parity(TIER1, memory="2G").unverified
    found = parity(TIER1.replace(was, becomes))
    (word,) = {"$FLAGS", "${FLAGS[@]}"} & set(becomes.replace('"', "").split())
    assert f"`{word}` is set when the workflow runs, and with it perhaps other options than these" in found.unverified
    assert found.differences == ()


@pytest.mark.parametrize(
    "after",
    [
        "2>&1",
        "2>&1 | tee out",
        "> out.log 2>err.log",
        ">>out 2>> err",
        "&> out",
        "&>>out",
        "</dev/null",
        "< <(yes)",
        "> >(tee out)",
        '2>"a file"',
        "2>$LOG",
        ">&2",
        "2>&-",
        "<<< input",
        ">| out",
        "# as it always was",
        "#",
        "&",
        "|| exit 1",
        "; echo done",
    ],
)
def test_where_the_output_goes_and_comments_are_no_arguments(after: str) -> None:
    command = "iris job run --memory=2G --disk=4G --cpu=1 --extra=cpu --priority production"
    command += f" -- python -m experiments.ferries.datakit_ferry {after}"
    workflow = f"jobs:\n  a:\n    steps:\n    - run: |\n        {command}\n"
    assert told(parity(workflow)) == []


def test_output_may_be_led_away_before_the_command_too() -> None:
    found = parity(TIER1.replace("--cpu=1", "2>err.log --cpu=1 >&2"))
    assert found == parity(TIER1)


def test_a_number_before_a_blank_is_an_argument() -> None:
    (only,) = told(parity(TIER1.replace("datakit_ferry)", "datakit_ferry 2 > out)")))
    assert only == "arguments of the ferry: the tier's workflow has `2`, the gate's configuration none"


def test_what_a_comment_ends_with_continues_nothing_and_what_stands_in_quotes_is_no_comment() -> None:
    workflow = TIER1.replace("set -euo pipefail", "set -euo pipefail  # don't \\")
    assert list(parity(workflow).unverified) == list(parity(TIER1).unverified)
    (only,) = told(parity(TIER1.replace("--cpu=1", '--cpu=1 -e NOTE "a # b > c"')))
    assert only == "environment `NOTE`: the tier's workflow has `a # b > c`, the gate's configuration none"


def test_a_here_document_is_no_command() -> None:
    lines = ["cat > notes <<'END'", "iris job run --memory=1G -- python -m other", "END"]
    workflow = TIER1.replace("set -euo pipefail", ("\n" + 10 * " ").join(["set -euo pipefail", *lines]))
    assert told(parity(workflow)) == []
    (difference,) = told(parity(workflow.replace("--memory=2G", "--memory=3G")))
    assert difference.startswith("memory: ")


@pytest.mark.parametrize(
    "globally",
    ["--config job --cluster run", "--config=job", "-v --traceback --controller-url http://127.0.0.1:10000", ""],
)
def test_options_before_the_subcommand_are_told_from_it(globally: str) -> None:
    command = f"iris {globally} job run --memory=8G -- python -m experiments.ferries.datakit_ferry"
    workflow = f"jobs:\n  a:\n    steps:\n    - run: {command}\n"
    assert "memory: the tier's workflow has `8G`, the gate's configuration `2G`" in told(parity(workflow))


@pytest.mark.parametrize("command", ["iris --config job run -- x", "iris job list run", "echo iris job run -- python"])
def test_what_only_looks_like_it_is_no_submission(command: str) -> None:
    workflow = f"jobs:\n  a:\n    steps:\n    - run: {command}\n"
    assert parity(workflow).unverified[0].endswith("has no step that runs `iris job run`")


@pytest.mark.parametrize("given", ["--memory=$MEMORY", "--memory ${{ inputs.memory }}", '--memory="`cat memory`"'])
def test_a_value_behind_a_variable_is_not_compared(given: str) -> None:
    found = parity(TIER1.replace("--memory=2G", given))
    assert found.differences == ()
    assert found.unverified[0].startswith("memory: `")
    assert found.unverified[0].endswith("is set when the workflow runs")


@pytest.mark.parametrize(
    "around", ["export JOB_ID=$({})", "if ! JOB_ID=$({}); then", "{} | tee out", "OUT=$(echo $({}))"]
)
def test_the_command_is_found_wherever_it_stands(around: str) -> None:
    command = ".venv/bin/iris job run --memory=8G -- python -m experiments.ferries.datakit_ferry"
    workflow = f"jobs:\n  a:\n    steps:\n    - run: |\n        {around.format(command)}\n"
    assert "memory: the tier's workflow has `8G`, the gate's configuration `2G`" in told(parity(workflow))


@pytest.mark.parametrize(
    ("workflow", "why"),
    [
        (None, "could not be read"),
        ("jobs: [", "is not valid YAML"),
        ("jobs: 3", "has no step that runs `iris job run`"),
        ("jobs: {a: {steps: [{run: echo hello}, 3, {uses: x}]}}", "has no step that runs `iris job run`"),
        (TIER1.replace("-- python", "python"), "has an `iris job run` without `-- python -m MODULE`"),
        (TIER1.replace("set -euo pipefail", "iris job run -- python -m x"), "runs `iris job run` 2 times, so which"),
        ("x" * 300_000, "is too large to be a workflow"),
    ],
)
def test_a_workflow_that_cannot_be_read_is_unverified_and_no_difference(workflow: str | None, why: str) -> None:
    found = parity(workflow)
    assert found.differences == ()
    (said,) = found.unverified
    assert said.startswith(f"`.github/workflows/marin-canary-datakit-tier1.yaml` {why}")


def test_the_script_is_compared_too_but_never_stops_what_the_workflow_allows() -> None:
    found = parity(TIER1, script=SCRIPT.replace('memory="2G"', 'memory="3G"'))
    assert told(found) == ["memory: `scripts/ci/submit_perf_run.py` has `3G`, the gate's configuration `2G`"]
    assert found.stopping == ()


@pytest.mark.parametrize(
    ("script", "why"),
    [("def (", "is not Python that can be read"), ("TIERS = {}", "has no `TIERS` with an entry for gate 1")],
)
def test_a_script_of_another_kind_is_unverified(script: str, why: str) -> None:
    assert parity(TIER1, script=script).unverified[-1] == f"`scripts/ci/submit_perf_run.py` {why}"


def test_a_value_that_the_script_computes_is_unverified() -> None:
    found = parity(TIER1, script=SCRIPT.replace('memory="2G"', "memory=MEMORY"))
    assert found.differences == ()
    assert found.unverified[-1] == "memory: `MEMORY` is set when the script runs"
