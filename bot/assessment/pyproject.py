"""What a change of `pyproject.toml` means: native engines and transports by their floors, or nothing."""

from __future__ import annotations

import re
import tomllib
from typing import Any

from bot.assessment.evidence.model import Evidence
from bot.config.modules import Dependency, Modules

_NAME = re.compile(r"^[A-Za-z0-9][A-Za-z0-9._-]*")
# Tables that only tools, readers of the index and developers look at.
_METADATA = frozenset(
    [
        "description",
        "readme",
        "authors",
        "maintainers",
        "keywords",
        "classifiers",
        "urls",
        "license",
        "license-files",
        "version",
        "name",
    ]
)
_TOOLS = frozenset(
    [
        "ruff",
        "black",
        "isort",
        "mypy",
        "pyrefly",
        "pyright",
        "pytest",
        "coverage",
        "codespell",
        "towncrier",
        "ty",
        "flake8",
        "pylint",
        "bandit",
    ]
)
_INERT_GROUPS = re.compile(r"test|dev|doc|lint|type|bench|ci", re.IGNORECASE)


def pyproject_evidence(path: str, base: bytes, head: bytes, modules: Modules) -> tuple[list[Evidence], list[str], bool]:
    """(evidence, what changed in words, is it all inert?). Raises ValueError where a side does not parse."""
    old, new = (tomllib.loads(side.decode("utf-8")) for side in (base, head))
    evidence, said, inert = [], [], True
    for name, (was, now) in _changed_requirements(old, new).items():
        text = f"{name} {was or 'absent'} → {now or 'absent'}"
        said.append(text)
        inert = False
        rule = _rule(name, modules)
        if rule is not None:
            evidence.append(Evidence(path, _line(head, name), text, rule.why, "import", rule.questions, 30))
    if _without_requirements(old) != _without_requirements(new):
        changed = _changed_keys(_without_requirements(old), _without_requirements(new))
        said += changed
        for key in changed:
            if key == "project.requires-python":
                evidence.append(
                    Evidence(
                        path,
                        _line(head, "requires-python"),
                        "another Python version",
                        "the interpreter sets what every loop costs",
                        "import",
                        ("cpu", "memory"),
                        25,
                    )
                )
            if not _is_inert(key):
                inert = False
    return evidence, said, inert


def _rule(name: str, modules: Modules) -> Dependency | None:
    return next((rule for rule in modules.dependencies if name in map(_normal, rule.names)), None)


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def _requirements(data: dict[str, Any]) -> dict[str, str]:
    """Normalised name → requirement, of what is installed to run the package: dependencies, extras, sources."""
    project = _table(data, "project")
    listed = list(_strings(project.get("dependencies")))
    for group, items in _table(project, "optional-dependencies").items():
        if not _INERT_GROUPS.search(str(group)):
            listed += _strings(items)
    found: dict[str, str] = {}
    for requirement in listed:
        if match := _NAME.match(requirement):
            name = _normal(match.group())
            found[name] = (found.get(name, "") + " " + requirement[match.end() :].replace(" ", "")).strip() or "any"
    return found


def _changed_requirements(old: dict[str, Any], new: dict[str, Any]) -> dict[str, tuple[str, str]]:
    was, now = _requirements(old), _requirements(new)
    names = [*now, *(name for name in was if name not in now)]
    return {name: (was.get(name, ""), now.get(name, "")) for name in names if was.get(name) != now.get(name)}


def _without_requirements(data: dict[str, Any]) -> dict[str, Any]:
    project = {key: value for key, value in _table(data, "project").items() if key != "dependencies"}
    extras = _table(project, "optional-dependencies")
    project["optional-dependencies"] = {key: value for key, value in extras.items() if _INERT_GROUPS.search(str(key))}
    return {**data, "project": project}


def _changed_keys(old: dict[str, Any], new: dict[str, Any]) -> list[str]:
    found = []
    for table in sorted(old.keys() | new.keys()):
        was, now = old.get(table), new.get(table)
        if repr(was) == repr(now):
            continue
        if isinstance(was or {}, dict) and isinstance(now or {}, dict):
            below = sorted((was or {}).keys() | (now or {}).keys())
            found += [f"{table}.{key}" for key in below if repr((was or {}).get(key)) != repr((now or {}).get(key))]
        else:
            found.append(table)
    return found


def _is_inert(key: str) -> bool:
    table, _, rest = key.partition(".")
    if table == "project":
        return rest in _METADATA or rest == "optional-dependencies"
    if table == "tool":
        return rest in _TOOLS
    return table == "dependency-groups"


def _table(data: dict[str, Any], key: str) -> dict[str, Any]:
    found = data.get(key)
    return found if isinstance(found, dict) else {}


def _strings(value: Any) -> list[str]:
    return [item for item in value if isinstance(item, str)] if isinstance(value, list) else []


def _line(source: bytes, word: str) -> int:
    lines = source.decode("utf-8", "replace").splitlines()
    return next((number for number, line in enumerate(lines, 1) if _normal(word) in _normal(line)), 0)
