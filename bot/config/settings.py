"""What only an operator sets: environment variables named PERF_GATE_*, read once at start.

No repository can set any of this: it names the cluster, its credentials, and who is served.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated
from urllib.parse import unquote, urlsplit

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, SecretStr, model_validator

from bot.config.written import (
    AbsolutePath,
    Address,
    BucketFolder,
    Clusters,
    DatabaseUrl,
    Folders,
    Hosts,
    Names,
    PageAddress,
    PrivateKey,
    Repositories,
    StatusPrefix,
    at_least,
)

PREFIX = "PERF_GATE_"
DEFAULT_API_URL = "https://api.github.com"
DEFAULT_GITHUB_URL = "https://github.com"


def database_file(state_dir: Path) -> Path:
    """Where state is kept, unless in PostgreSQL."""
    return state_dir / "perf-gate.db"


def runs_dir(state_dir: Path) -> Path:
    """Where the files of each run are kept."""
    return state_dir / "runs"


class StateSettings(BaseModel):
    """Where state lies: all that a command beside the bot needs. One of the two is set."""

    model_config = ConfigDict(frozen=True)

    state_dir: AbsolutePath | None = None
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
    private_key: PrivateKey = Field(description="the App's private key: PEM text, or the path of the .pem file")
    webhook_secret: Annotated[SecretStr, AfterValidator(at_least(8))] = Field(
        description="the webhook secret of the App's settings page, 8 characters or more"
    )
    repositories: Repositories = Field(
        min_length=1, description="the repositories served, as owner/name, separated by commas"
    )
    state_dir: AbsolutePath = Field(description="a folder that survives restarts: database, mirror, trees, reports")

    database_url: DatabaseUrl | None = Field(
        default=None,
        description="postgresql://user:password@host/name, where several processes share the state; "
        "default: a file in the state folder, for one process",
    )
    mention: str = Field(default="perf-gate", pattern=r"^[A-Za-z0-9-]+$", description="the name people mention")
    host: str = Field(default="127.0.0.1", description="the address to listen on")
    port: int = Field(default=8080, ge=0, le=65535, description="the port to listen on")
    github_api_url: Address = Field(default=DEFAULT_API_URL, description="GitHub's REST API")
    github_url: str = Field(default=DEFAULT_GITHUB_URL, description="where repositories are cloned from")
    write_spacing: float = Field(default=1.0, ge=0, description="seconds between two writes to GitHub")

    recovery_seconds: float = Field(
        default=300, ge=10, description="seconds between two looks at what webhooks failed to tell"
    )

    iris_command: AbsolutePath = Field(
        default=Path(".iris/bin/iris"), validate_default=True, description="the iris program"
    )
    iris_controller_url: Address | None = Field(
        default=None, description="the Iris controller's address; this or IRIS_CONFIG is required"
    )
    iris_config: AbsolutePath | None = Field(
        default=None, description="the cluster's YAML; this or IRIS_CONTROLLER_URL is required"
    )
    iris_clusters: Clusters = Field(
        default=(),
        description="other clusters that `retry cluster=NAME` may name: NAME=address or NAME=path of a YAML, "
        "separated by commas",
    )
    iris_user: str = Field(default="perf-gate", pattern=r"^[a-z0-9_-]+$", description="the user ferries run as")
    status_prefix: StatusPrefix = Field(
        description="where ferries write their status file: gs://bucket/folder, or a path"
    )
    perf_reports: BucketFolder | None = Field(
        default=None,
        description="where the tier workflows mirror their perf reports, gs://bucket/folder; default: artifacts only",
    )
    pass_env: Names = Field(
        default=("HF_TOKEN",), description="names of variables that ferries get from this environment"
    )
    sandbox_tools: Folders = Field(
        default=(), description="folders the preflight may read, each with a bin/, separated by colons"
    )
    package_index: str = Field(
        default="",
        pattern=r"^(https://[A-Za-z0-9.-]+(:\d{1,5})?(/[\w./+-]*)?)?$",
        description="the only address that the preflight reaches, such as https://pypi.org/simple; default: none",
    )
    package_hosts: Hosts = Field(
        default=(), description="more hosts that this index sends to, as host or host:port, separated by commas"
    )
    package_cache: AbsolutePath | None = Field(
        default=None, description="a folder that uv filled as its cache; each preflight begins with a copy of it"
    )
    mirror_mb: int = Field(default=8192, ge=1, description="disk that the mirror of one repository may take")
    tree_mb: int = Field(default=2048, ge=1, description="size of the largest commit that is laid out to be run")
    sandbox_disk_mb: int = Field(default=8192, ge=1, description="disk that the preflight of one run may fill")
    work_dir: AbsolutePath | None = Field(
        default=None, description="where a folder for trees is made; default: the state folder"
    )
    log_format: str | None = Field(
        default=None, pattern="^(json|text)$", description="json or text; default: text on a terminal, else json"
    )
    public_url: PageAddress | None = Field(
        default=None, description="where people reach the pages, https://HOST; the comment then links to its run's page"
    )
    operator_token: Annotated[SecretStr, AfterValidator(at_least(16))] | None = Field(
        default=None,
        description="opens the pages of private repositories, 16 characters or more; without it nobody sees them",
    )

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
