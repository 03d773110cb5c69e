"""`perf-gate assess`: what the bot would propose for a diff, from two folders or from a git repository."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path

import click
import msgspec

from bot.assessment.assess import assess
from bot.assessment.model import Assessment, FileChange
from bot.assessment.package import PackageView, is_package_file, names_to_look_for, reaches_by_name, whole
from bot.assessment.paused import collector_paused, exit_uncollected
from bot.assessment.scope import gated
from bot.checkout.folders import UnreadableFolder, compare_folders, read_folder, words_written
from bot.config.load import BadConfig, builtin_config, load_repository_config
from bot.config.schema import RepositoryConfig
from bot.faults import Fault

FOLDER = click.Path(exists=True, file_okay=False, path_type=Path)


@click.command("assess", short_help="Propose a max_gate for a diff.")
@click.option("--base-dir", type=FOLDER, help="the repository's tree before the change")
@click.option("--head-dir", type=FOLDER, help="the repository's tree after the change")
@click.option("--repo", type=FOLDER, help="a git repository (instead of two trees)")
@click.option("--base", "base_ref", help="with --repo: the branch the change is meant for; its merge base is compared")
@click.option("--head", "head_ref", help="with --repo: the change")
@click.option("--config", "config_file", type=click.Path(exists=True, dir_okay=False, path_type=Path), help="TOML")
@click.option("--json", "as_json", is_flag=True, help="print one JSON object")
def command(
    base_dir: Path | None,
    head_dir: Path | None,
    repo: Path | None,
    base_ref: str | None,
    head_ref: str | None,
    config_file: Path | None,
    as_json: bool,
) -> None:
    """Answer the five questions for each changed file and propose how far to climb the gates.

    Either --base-dir A --head-dir B: two folders shaped like the repository, such as lib/zephyr/src/zephyr/shuffle.py.
    Or --repo DIR --base REF --head REF: what REF's merge base and head differ in. Exit 2 on bad input.
    """
    exit_uncollected()
    trees, refs = (base_dir, head_dir), (repo, base_ref, head_ref)
    if any(refs) == any(trees) or not (all(trees) or all(refs)):
        raise click.UsageError(_wanted(any(trees), {"--repo": repo, "--base": base_ref, "--head": head_ref}))
    try:
        config = _config(config_file)
        if base_dir and head_dir:
            changes = compare_folders(base_dir, head_dir, wanted=lambda path: gated(path, config.scope))
            package = _around(base_dir, head_dir, config.modules.package_root, changes)
        else:
            assert repo and base_ref and head_ref  # noqa: S101, PT018 — checked above
            # Two folders need no event loop and no git, and importing them takes a tenth of the time to answer.
            from asyncio import run

            changes, package = run(_from_git(repo, base_ref, head_ref, config))
    except (BadConfig, BadInput, UnreadableFolder) as error:
        _refuse(str(error))
    except Fault as fault:
        _refuse(f"{fault.public}: {fault.private}")
    with collector_paused():
        result = assess(changes, config.scope, config.modules, package)
    click.echo(msgspec.json.encode(result) if as_json else "\n".join(readable(result)))


def _wanted(folders: bool, of_git: Mapping[str, object]) -> str:
    """What is missing where it is clear which of the two ways was meant."""
    missing = [option for option, value in of_git.items() if not value]
    both = "give either --base-dir and --head-dir, or --repo, --base and --head"
    return both if folders or len(missing) == len(of_git) else f"{both}; missing: {', '.join(missing)}"


class BadInput(ValueError):
    """What was given cannot be assessed; the message is for the terminal."""


def _config(file: Path | None) -> RepositoryConfig:
    if file is None:
        return builtin_config()
    try:
        return load_repository_config(file.read_text("utf-8"), str(file))
    except (UnicodeDecodeError, OSError) as error:
        raise BadInput(f"{file}: not readable as UTF-8 text: {error}") from None


def _around(base: Path, head: Path, root: str, changes: list[FileChange]) -> PackageView | None:
    """The package on both sides; folders that hold only an extract of it give none."""
    outside = words_written(head, names_to_look_for(changes), lambda path: reaches_by_name(path, root))
    sides = [read_folder(folder, root, lambda path: is_package_file(path, root)) for folder in (base, head)]
    return whole(sides[0], sides[1], root, outside)


async def _from_git(
    repo: Path, base_ref: str, head_ref: str, config: RepositoryConfig
) -> tuple[list[FileChange], PackageView | None]:
    from bot.checkout.repository import Repository

    repository = Repository(git_folder(repo))
    base, head = await repository.resolve(base_ref), await repository.resolve(head_ref)
    for name, sha in ((base_ref, base), (head_ref, head)):
        if sha is None:
            raise BadInput(f"{repo}: no commit is called {name!r} here (is it a git repository, and was it fetched?)")
    assert base and head  # noqa: S101, PT018 — the loop has refused both
    merge_base = await repository.merge_base(base, head)
    if merge_base is None:
        raise BadInput(f"{base_ref} and {head_ref} have no common ancestor")
    changes = await repository.changes(merge_base, head, wanted=lambda path: gated(path, config.scope))
    root = config.modules.package_root
    sides = [
        await repository.read_folder(sha, root, lambda path: is_package_file(path, root)) for sha in (merge_base, head)
    ]
    asked = names_to_look_for(changes)
    outside = await repository.words_written(head, asked, lambda path: reaches_by_name(path, root))
    return changes, whole(sides[0], sides[1], root, outside)


def git_folder(repo: Path) -> Path:
    """A clone's `.git`, which is a file that names the real folder in a linked worktree; else the folder itself."""
    dot_git = repo / ".git"
    if dot_git.is_file():
        return (repo / dot_git.read_text("utf-8").removeprefix("gitdir:").strip()).resolve()
    return dot_git if dot_git.is_dir() else repo


def readable(result: Assessment) -> list[str]:
    """The proposal as lines for a terminal."""
    lines = [f"Proposed max_gate: {result.max_gate}" if result.in_scope else "Out of scope of the gate"]
    lines.append(f"Rationale: {result.rationale}")
    for path, answers in result.per_file.items():
        said = "trivial" if answers.trivial else ", ".join(answers.climbs) or "none of the four"
        lines += ["", path, f"  {said}: {answers.summary}"]
        lines += [f"  - {item}" for item in answers.evidence]
    for title, files in (("Flagged", result.flagged), ("Not gated", result.out_of_scope)):
        if files:
            lines += ["", f"{title}:", *(f"  {path}: {reason}" for path, reason in files.items())]
    # Names and summaries come from the change: no escape sequence of theirs may reach a terminal.
    return [_plain(line) for line in lines]


def _plain(line: str) -> str:
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode("ascii") for char in line)


def _refuse(message: str) -> None:
    click.echo(f"perf-gate assess: {message}", err=True)
    sys.exit(2)
