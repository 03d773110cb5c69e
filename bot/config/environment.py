"""The settings as this process's environment has them; what is missing or wrong is told all at once, by name."""

from __future__ import annotations

import os
from pathlib import Path

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from bot.config.settings import PREFIX, Settings, StateSettings
from bot.config.wording import meant, problem

SECRET_FIELDS = ("private_key", "webhook_secret", "database_url", "operator_token")
"""What may also be given as a file, by the variable with `_FILE` behind its name."""


class MissingSettings(Exception):
    """Everything wrong with the environment at once; the text is for the operator's terminal."""


def _environment(model: type[BaseModel]) -> dict[str, str]:
    """What the environment says of this model's fields; an empty variable is none. Read by hand: a library that also
    knows other sources costs every start a tenth of a second and ten megabytes."""
    named = {field: _value(field) for field in model.model_fields}
    return {field: value for field, value in named.items() if value}


def _value(field: str) -> str:
    """A secret's own variable, or the content of the file that its `_FILE` variable names: hosts mount secrets so."""
    name = f"{PREFIX}{field.upper()}"
    value, file = os.environ.get(name, ""), os.environ.get(f"{name}_FILE", "") if field in SECRET_FIELDS else ""
    if not file:
        return value
    if value:
        raise MissingSettings(f"both {name} and {name}_FILE are set; unset one of them")
    try:
        return Path(file).read_text("utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "not UTF-8 text"
        raise MissingSettings(f"{name}_FILE: {file} cannot be read: {why}") from None


def secret_value(field: str) -> str:
    """One secret alone, for a command that needs nothing else; empty where it is not set. Raises MissingSettings."""
    return _value(field)


def load_state_settings() -> StateSettings:
    """Where state lies, from the environment. Raises MissingSettings."""
    try:
        return StateSettings.model_validate(_environment(StateSettings))
    except ValidationError as error:
        lines = [_line(item) for item in error.errors()]
    raise MissingSettings("perf-gate does not know where its state is:\n" + "\n".join(lines))


def load_settings() -> Settings:
    """Read the environment. Raises MissingSettings listing each variable that is missing or wrong, and what it is."""
    try:
        return Settings.model_validate(_environment(Settings))
    except ValidationError as error:
        lines = [*map(_line, error.errors()), *(f"  {told}" for told in unknown_variables())]
        iris = (f"{PREFIX}IRIS_CONTROLLER_URL", f"{PREFIX}IRIS_CONFIG")
        # Pydantic does not come to the rule about both while single fields are wrong.
        if not any(map(os.environ.get, iris)) and not any(iris[0] in line for line in lines):
            lines.append(f"  {iris[0]} or {iris[1]}: missing (how the Iris cluster is reached)")
    raise MissingSettings("perf-gate cannot start; set these environment variables:\n" + "\n".join(lines))


def unknown_variables() -> list[str]:
    """A sentence for each variable with our prefix that nothing reads: most are misspelt, and a default holds."""
    known = [field.upper() for field in Settings.model_fields]
    known += [f"{field.upper()}_FILE" for field in SECRET_FIELDS]
    said = []
    for name in sorted(name.removeprefix(PREFIX) for name in os.environ if name.startswith(PREFIX)):
        if name not in known:
            hint = f"; did you mean {PREFIX}{close}?" if (close := meant(name, known)) else ""
            said.append(f"{PREFIX}{name}: there is no such setting, so it does nothing{hint}")
    return said


def _line(item: ErrorDetails) -> str:
    # What a setting's own validator says of its value is said already; pydantic's words are put plainly.
    said = problem(item)
    if not item["loc"]:
        return f"  {said}"
    field = str(item["loc"][0])
    description = Settings.model_fields[field].description if field in Settings.model_fields else ""
    if item["type"] == "missing":
        said = "missing"
    return f"  {PREFIX}{field.upper()}: {said} ({description})"
