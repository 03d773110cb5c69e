"""What only an operator sets: environment variables named PERF_GATE_*, read once at start.

No repository can set any of this: it names the cluster, its credentials, and who is served.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Annotated
from urllib.parse import unquote, urlsplit

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    SecretStr,
    ValidationError,
    field_validator,
    model_validator,
)
from pydantic_core import ErrorDetails

from bot.config.wording import meant, problem

PREFIX = "PERF_GATE_"
DEFAULT_API_URL = "https://api.github.com"
DEFAULT_GITHUB_URL = "https://github.com"
SECRET_FIELDS = ("private_key", "webhook_secret", "database_url")
"""What may also be given as a file, by the variable with `_FILE` behind its name."""

# Bucket names: https://cloud.google.com/storage/docs/buckets#naming
_CLUSTER = re.compile(r"[a-z0-9][a-z0-9-]{0,60}")
_BUCKET_FOLDER = re.compile(r"gs://[a-z0-9][a-z0-9._-]{1,220}[a-z0-9](/[A-Za-z0-9=._-]+)*/?")
_PLAIN_ADDRESS = re.compile(r"https?://[A-Za-z0-9.:\[\]-]+(/[A-Za-z0-9._~-]+)*/?")

_HOST = re.compile(r"[a-z0-9]([a-z0-9.-]*[a-z0-9])?(:\d{1,5})?")


def _postgres(value: SecretStr) -> SecretStr:
    if not value.get_secret_value().startswith(("postgresql://", "postgres://")):
        raise ValueError("not of the form postgresql://user:password@host/name")
    return value


StateDir = Annotated[Path, AfterValidator(Path.absolute)]
DatabaseUrl = Annotated[SecretStr, AfterValidator(_postgres)]


def database_file(state_dir: Path) -> Path:
    """Where state is kept, unless in PostgreSQL."""
    return state_dir / "perf-gate.db"


def runs_dir(state_dir: Path) -> Path:
    """Where the files of each run are kept."""
    return state_dir / "runs"


class StateSettings(BaseModel):
    """Where state lies: all that a command beside the bot needs. One of the two is set."""

    model_config = ConfigDict(frozen=True)

    state_dir: StateDir | None = None
    database_url: DatabaseUrl | None = None

    @model_validator(mode="after")
    def _somewhere(self) -> StateSettings:
        if self.state_dir is None and self.database_url is None:
            raise ValueError(f"set {PREFIX}STATE_DIR, the state folder of perf-gate serve, or {PREFIX}DATABASE_URL")
        return self


class Settings(BaseModel):
    """One deployment. Paths are absolute after validation; `repositories` holds lower-case `owner/name`."""

    model_config = ConfigDict(frozen=True)

    app_id: int = Field(gt=0, description="the App's id, on its settings page under About")
    private_key: SecretStr = Field(description="the App's private key: PEM text, or the path of the .pem file")
    webhook_secret: SecretStr = Field(description="the webhook secret of the App's settings page, 8 characters or more")
    repositories: frozenset[str] = Field(
        min_length=1, description="the repositories served, as owner/name, separated by commas"
    )
    state_dir: StateDir = Field(description="a folder that survives restarts: database, mirror, trees, reports")

    database_url: DatabaseUrl | None = Field(
        default=None,
        description="postgresql://user:password@host/name, where several processes share the state; "
        "default: a file in the state folder, for one process",
    )
    mention: str = Field(default="perf-gate", pattern=r"^[A-Za-z0-9-]+$", description="the name people mention")
    host: str = Field(default="127.0.0.1", description="the address to listen on")
    port: int = Field(default=8080, ge=0, le=65535, description="the port to listen on")
    github_api_url: str = Field(default=DEFAULT_API_URL, description="GitHub's REST API")
    github_url: str = Field(default=DEFAULT_GITHUB_URL, description="where repositories are cloned from")
    write_spacing: float = Field(default=1.0, ge=0, description="seconds between two writes to GitHub")

    recovery_seconds: float = Field(
        default=300, ge=10, description="seconds between two looks at what webhooks failed to tell"
    )

    iris_command: Path = Field(default=Path(".iris/bin/iris"), description="the iris program")
    iris_controller_url: str | None = Field(
        default=None, description="the Iris controller's address; this or IRIS_CONFIG is required"
    )
    iris_config: Path | None = Field(
        default=None, description="the cluster's YAML; this or IRIS_CONTROLLER_URL is required"
    )
    iris_clusters: tuple[tuple[str, str], ...] = Field(
        default=(),
        description="other clusters that `retry cluster=NAME` may name: NAME=address or NAME=path of a YAML, "
        "separated by commas",
    )
    iris_user: str = Field(default="perf-gate", pattern=r"^[a-z0-9_-]+$", description="the user ferries run as")
    status_prefix: str = Field(description="where ferries write their status file: gs://bucket/folder, or a path")
    perf_reports: str | None = Field(
        default=None,
        description="where the tier workflows mirror their perf reports, gs://bucket/folder; default: artifacts only",
    )
    pass_env: tuple[str, ...] = Field(
        default=("HF_TOKEN",), description="names of variables that ferries get from this environment"
    )
    sandbox_tools: tuple[Path, ...] = Field(
        default=(), description="folders the preflight may read, each with a bin/, separated by colons"
    )
    package_index: str = Field(
        default="",
        pattern=r"^(https://[A-Za-z0-9.-]+(:\d{1,5})?(/[\w./+-]*)?)?$",
        description="the only address that the preflight reaches, such as https://pypi.org/simple; default: none",
    )
    package_hosts: tuple[str, ...] = Field(
        default=(), description="more hosts that this index sends to, as host or host:port, separated by commas"
    )
    package_cache: Path | None = Field(
        default=None, description="a folder that uv filled as its cache; each preflight begins with a copy of it"
    )
    mirror_mb: int = Field(default=8192, ge=1, description="disk that the mirror of one repository may take")
    tree_mb: int = Field(default=2048, ge=1, description="size of the largest commit that is laid out to be run")
    sandbox_disk_mb: int = Field(default=8192, ge=1, description="disk that the preflight of one run may fill")
    work_dir: Path | None = Field(
        default=None, description="where a folder for trees is made; default: the state folder"
    )
    log_format: str = Field(default="json", pattern="^(json|text)$", description="json or text")
    public_url: str | None = Field(
        default=None, description="where people reach the pages, https://HOST; the comment then links to its run's page"
    )
    operator_token: SecretStr | None = Field(
        default=None,
        description="opens the pages of private repositories, 16 characters or more; without it nobody sees them",
    )

    @field_validator("repositories", mode="before")
    @classmethod
    def _repositories(cls, value: object) -> object:
        if not isinstance(value, str):
            return value
        names = frozenset(part.strip().lower() for part in value.split(",") if part.strip())
        if bad := sorted(n for n in names if n.count("/") != 1 or n.startswith("/") or n.endswith("/")):
            raise ValueError(f"{bad[0]!r} is not owner/name")
        return names

    @field_validator("package_hosts", mode="before")
    @classmethod
    def _hosts(cls, value: object) -> object:
        if not isinstance(value, str):
            return value
        hosts = tuple(part.strip().lower() for part in value.split(",") if part.strip())
        if bad := [host for host in hosts if not _HOST.fullmatch(host)]:
            raise ValueError(f"{bad[0]!r} is neither host nor host:port")
        return hosts

    @field_validator("iris_clusters", mode="before")
    @classmethod
    def _clusters(cls, value: object) -> object:
        if not isinstance(value, str):
            return value
        pairs = [part.strip().partition("=") for part in value.split(",") if part.strip()]
        if bad := [name for name, _, _ in pairs if not _CLUSTER.fullmatch(name)]:
            raise ValueError(f"{bad[0]!r} is no name: lower-case letters, digits and hyphens")
        if bad := [name for name, _, at in pairs if not at.startswith(("http://", "https://", "/"))]:
            raise ValueError(f"{bad[0]!r} has neither an address of the form https://host nor an absolute path")
        return tuple((name, at) for name, _, at in pairs)

    @field_validator("pass_env", mode="before")
    @classmethod
    def _names(cls, value: object) -> object:
        return tuple(part.strip() for part in value.split(",") if part.strip()) if isinstance(value, str) else value

    @field_validator("sandbox_tools", mode="before")
    @classmethod
    def _paths(cls, value: object) -> object:
        return tuple(Path(part) for part in value.split(os.pathsep) if part) if isinstance(value, str) else value

    @field_validator("private_key", mode="after")
    @classmethod
    def _key(cls, value: SecretStr) -> SecretStr:
        text = value.get_secret_value()
        if "PRIVATE KEY" not in text:
            try:
                text = Path(text).read_text("utf-8")
            except OSError as error:
                raise ValueError(f"neither PEM text nor a readable file: {error.strerror}") from None
        if "PRIVATE KEY" not in text:
            raise ValueError("the file holds no PEM private key")
        # Variables often carry the line breaks as two characters.
        return SecretStr(text.replace("\\n", "\n"))

    @field_validator("webhook_secret", mode="after")
    @classmethod
    def _long_enough(cls, value: SecretStr) -> SecretStr:
        if len(value.get_secret_value()) < 8:
            raise ValueError("shorter than 8 characters")
        return value

    @field_validator("operator_token", mode="after")
    @classmethod
    def _hard_to_guess(cls, value: SecretStr | None) -> SecretStr | None:
        if value is not None and len(value.get_secret_value()) < 16:
            raise ValueError("shorter than 16 characters")
        return value

    @field_validator("github_api_url", "iris_controller_url", "public_url", mode="after")
    @classmethod
    def _address(cls, value: str | None) -> str | None:
        if value is not None and not (value.startswith(("http://", "https://")) and urlsplit(value).netloc):
            raise ValueError("not an address of the form https://host")
        return value

    @field_validator("public_url", mode="after")
    @classmethod
    def _prefix(cls, value: str | None) -> str | None:
        """It stands in Markdown links, with a path of ours behind it."""
        if value is not None and not _PLAIN_ADDRESS.fullmatch(value):
            raise ValueError("not a plain address such as https://host or https://host/folder")
        return value.rstrip("/") if value else None

    @field_validator("status_prefix", mode="after")
    @classmethod
    def _findable(cls, value: str) -> str:
        if not value.startswith(("gs://", "/")):
            raise ValueError("neither gs://bucket/folder nor an absolute path")
        return value

    @field_validator("perf_reports", mode="after")
    @classmethod
    def _bucket(cls, value: str | None) -> str | None:
        if value is not None and not _BUCKET_FOLDER.fullmatch(value):
            raise ValueError("not gs://bucket/folder")
        return value.rstrip("/") if value else None

    @field_validator("iris_command", "iris_config", "work_dir", "package_cache", mode="after")
    @classmethod
    def _absolute(cls, value: Path | None) -> Path | None:
        return value.absolute() if value else None

    @model_validator(mode="after")
    def _one_way_to_iris(self) -> Settings:
        if (self.iris_controller_url is None) == (self.iris_config is None):
            raise ValueError(f"set exactly one of {PREFIX}IRIS_CONTROLLER_URL and {PREFIX}IRIS_CONFIG")
        return self

    @property
    def secrets(self) -> tuple[str, ...]:
        """What must never reach a log."""
        hidden = [one for one in (self.webhook_secret, self.database_url, self.operator_token) if one is not None]
        texts = [secret.get_secret_value() for secret in hidden]
        passwords = [urlsplit(self.database_url.get_secret_value()).password] if self.database_url else []
        return (*texts, *(unquote(password) for password in passwords if password))

    @property
    def database_file(self) -> Path:
        """Where state is kept, unless in PostgreSQL."""
        return database_file(self.state_dir)

    @property
    def trees_dir(self) -> Path:
        """A folder of the bot's own, wherever the operator points: what is left over in it is removed at start."""
        return (self.work_dir or self.state_dir) / "perf-gate-trees"

    @property
    def runs_dir(self) -> Path:
        """The files kept of each run, for people."""
        return runs_dir(self.state_dir)


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
