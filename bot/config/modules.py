"""What a repository may tell of the gated package's modules: the words and rules by which a diff is read."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from bot.config.strict import Strict

Question = Literal["shuffle", "memory", "cpu", "design"]
Frequency = Literal["import", "planning", "stage", "poll", "shard", "chunk", "record"]


class ModuleRole(Strict):
    """What some modules are for: `files` are globs below the package root, the first role that matches holds.

    `questions` is what a change of their hot code touches, `frequency` how often a function runs that nothing calls,
    `api` that its public names are what users write against.
    """

    files: tuple[str, ...] = Field(min_length=1)
    what: str
    questions: tuple[Question, ...] = ()
    frequency: Frequency = "planning"
    api: bool = False


class NameRule(Strict):
    """What a constant, a parameter or an attribute stands for, told by the words of its name.

    A word of several parts, such as "batch size", asks for all of them. The first rule that matches holds; one of
    `texts` is asked only about values that are texts.
    """

    words: tuple[str, ...] = Field(min_length=1)
    questions: tuple[Question, ...] = ()
    why: str
    texts: bool = False


class CallRule(Strict):
    """What a call costs, told by the last part of what is called; it counts from the frequency `least` upwards."""

    calls: tuple[str, ...] = Field(min_length=1)
    questions: tuple[Question, ...] = ()
    why: str
    least: Frequency = "import"


class Dependency(Strict):
    """Distributions whose version changes what the package's own code costs."""

    names: tuple[str, ...] = Field(min_length=1)
    questions: tuple[Question, ...]
    why: str


class Modules(Strict):
    """What the modules of the gated package are; the assessment reads priors from here, never from code."""

    package_root: str = "lib/zephyr/src/zephyr"
    high_prior: tuple[str, ...] = (
        "execution.py",
        "external_sort.py",
        "plan.py",
        "shard_keys.py",
        "shuffle.py",
        "spill.py",
    )
    roles: tuple[ModuleRole, ...] = ()
    # Frequency -> glob patterns of qualified names ("ScatterWriter.write"); what matches nothing follows its callers.
    runs: dict[Frequency, tuple[str, ...]] = Field(default={})
    # Frequency -> words in the text of what a loop goes over; "import" marks short loops that multiply nothing.
    loops: dict[Frequency, tuple[str, ...]] = Field(default={})
    names: tuple[NameRule, ...] = ()
    calls: tuple[CallRule, ...] = ()
    # Words in the names of calls that let files, memory or disk go: without the call, it stays held.
    releases: tuple[str, ...] = ()
    # Calls so cheap that even one more per record is not measurable.
    cheap_calls: tuple[str, ...] = ()
    # Classes whose public methods are called from other processes.
    actors: tuple[str, ...] = ()
    # Definitions whose conditions are rules that users rely on: fusion, stage semantics, retries.
    rules: tuple[str, ...] = ()
    dependencies: tuple[Dependency, ...] = ()
