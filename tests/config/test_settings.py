"""Operator settings: a list of what is missing and where it is set, and nothing half-read."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from bot.cli import main
from bot.config.addresses import run_page
from bot.config.environment import MissingSettings, load_settings, unknown_variables
from tests.conversations.world import key_pair
from tests.github.keys import damaged

PEM = "-----BEGIN RSA PRIVATE KEY-----\\nabc\\n-----END RSA PRIVATE KEY-----"
COMPLETE = {
    "APP_ID": "123",
    "PRIVATE_KEY": PEM,
    "WEBHOOK_SECRET": "s3cret-s3cret",
    "REPOSITORIES": "Marin-Community/marin, other/repo",
    "STATE_DIR": "state",
    "STATUS_PREFIX": "gs://bucket/tmp",
    "IRIS_CONTROLLER_URL": "http://127.0.0.1:1",
}


@pytest.fixture
def environment(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    for name in list(os.environ):
        if name.startswith("PERF_GATE_"):
            monkeypatch.delenv(name)
    for name, value in COMPLETE.items():
        monkeypatch.setenv(f"PERF_GATE_{name}", value)
    return monkeypatch


def test_a_complete_environment_is_read(environment: pytest.MonkeyPatch) -> None:
    settings = load_settings()
    assert settings.repositories == {"marin-community/marin", "other/repo"}
    assert settings.state_dir.is_absolute()
    assert settings.iris_command.is_absolute(), "also where the default holds: commands run in other folders"
    assert "\nabc\n" in settings.private_key.get_secret_value()
    assert settings.pass_env == ("HF_TOKEN",)
    assert "abc" not in repr(settings)
    assert "s3cret" not in repr(settings)


def test_the_key_may_be_a_file(environment: pytest.MonkeyPatch, tmp_path: Path) -> None:
    file = tmp_path / "key.pem"
    file.write_text(PEM.replace("\\n", "\n"))
    environment.setenv("PERF_GATE_PRIVATE_KEY", str(file))
    assert "abc" in load_settings().private_key.get_secret_value()


@pytest.mark.parametrize(
    ("name", "value", "told"),
    [
        ("PRIVATE_KEY", "/nowhere/key.pem", "neither PEM text nor a readable file: /nowhere/key.pem: No such file"),
        ("PRIVATE_KEY", "/dev/null", "the file /dev/null holds no PEM private key"),
        ("REPOSITORIES", "marin", "'marin' is not owner/name"),
        ("IRIS_CONFIG", "marin.yaml", "set exactly one of PERF_GATE_IRIS_CONTROLLER_URL and PERF_GATE_IRIS_CONFIG"),
        ("PORT", "99999", "PERF_GATE_PORT: must be at most 65535, not '99999' (the port to listen on)"),
        ("PORT", "http", "PERF_GATE_PORT: must be a whole number, not 'http'"),
        ("APP_ID", "-1", "PERF_GATE_APP_ID: must be above 0, not '-1'"),
        ("LOG_FORMAT", "xml", "PERF_GATE_LOG_FORMAT: must be json or text, not 'xml'"),
        ("MENTION", "@gate", "PERF_GATE_MENTION: must be letters, digits and hyphens only, without the @, not '@gate'"),
        ("WRITE_SPACING", "fast", "PERF_GATE_WRITE_SPACING: must be a number, not 'fast'"),
        ("RECOVERY_SECONDS", "1", "PERF_GATE_RECOVERY_SECONDS: must be at least 10, not '1'"),
        ("REPOSITORIES", " , ", "PERF_GATE_REPOSITORIES: must not be empty"),
        ("WEBHOOK_SECRET", "short", "shorter than 8 characters"),
        ("DATABASE_URL", "mysql://bot@host/gate", "not of the form postgresql://user:password@host/name"),
        ("GITHUB_API_URL", "api.github.com", "not an address of the form https://host"),
        ("IRIS_CONTROLLER_URL", "ftp://cluster", "not an address of the form https://host"),
        ("STATUS_PREFIX", "status", "neither gs://bucket/folder nor an absolute path"),
        ("OPERATOR_TOKEN", "open sesame", "shorter than 16 characters"),
        ("PUBLIC_URL", "gate.example", "not an address of the form https://host"),
        ("PUBLIC_URL", "https://gate.example/?a=b", "not a plain address such as https://host"),
        ("PUBLIC_URL", "https://gate.example/a) [b](c", "not a plain address such as https://host"),
    ],
)
def test_what_is_wrong_is_told_by_name(environment: pytest.MonkeyPatch, name: str, value: str, told: str) -> None:
    environment.setenv(f"PERF_GATE_{name}", value)
    with pytest.raises(MissingSettings) as raised:
        load_settings()
    assert told in str(raised.value)
    assert "BEGIN" not in str(raised.value)


@pytest.mark.parametrize("key", ["MIIEpAIBAAKCAQEA/3s" * 12, "/3sMIIEpAIB+AKCAQEA" * 12 + "==", "s3cret s3cret"])
def test_what_may_be_a_key_itself_is_not_repeated(environment: pytest.MonkeyPatch, key: str) -> None:
    environment.setenv("PERF_GATE_PRIVATE_KEY", key)
    with pytest.raises(MissingSettings) as raised:
        load_settings()
    assert "neither PEM text nor a readable file: " in str(raised.value)
    assert key[:12] not in str(raised.value)


def test_a_misspelt_variable_is_told_at_start(environment: pytest.MonkeyPatch, tmp_path: Path) -> None:
    environment.setenv("PERF_GATE_MENTOIN", "gate")
    environment.setenv("PERF_GATE_COLOUR", "blue")
    told = [
        "PERF_GATE_COLOUR: there is no such setting, so it does nothing",
        "PERF_GATE_MENTOIN: there is no such setting, so it does nothing; did you mean PERF_GATE_MENTION?",
    ]
    assert unknown_variables() == told
    environment.setenv("PERF_GATE_DATABASE_URL", f"postgresql://bot@/gate?host={tmp_path}")
    result = serve(environment, tmp_path)
    assert result.returncode == 2
    assert f"perf-gate: {told[1]}" in result.stderr
    environment.delenv("PERF_GATE_APP_ID")
    with pytest.raises(MissingSettings, match="did you mean PERF_GATE_MENTION"):
        load_settings()


def test_the_pages_have_an_address_where_the_operator_says_so(environment: pytest.MonkeyPatch) -> None:
    assert run_page(load_settings().public_url, "7-12-1") is None
    environment.setenv("PERF_GATE_PUBLIC_URL", "https://gate.example:8443/perf/")
    assert run_page(load_settings().public_url, "7-12-1") == "https://gate.example:8443/perf/runs/7-12-1"


def test_the_operator_token_is_kept_out_of_every_log(environment: pytest.MonkeyPatch) -> None:
    environment.setenv("PERF_GATE_OPERATOR_TOKEN", "a long operator token")
    assert "a long operator token" in load_settings().secrets
    assert "a long operator token" not in repr(load_settings())


def test_trees_lie_in_a_folder_of_their_own_wherever_the_operator_points(
    environment: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    environment.setenv("PERF_GATE_WORK_DIR", str(tmp_path))
    assert load_settings().trees_dir.parent == tmp_path


@pytest.mark.parametrize(
    ("name", "value", "told"),
    [
        ("STATE_DIR", "a file", "cannot be used: File exists; set PERF_GATE_STATE_DIR"),
        ("WORK_DIR", "a file", "cannot be used: Not a directory; set PERF_GATE_WORK_DIR"),
        ("IRIS_COMMAND", "nowhere", "there is no iris program"),
        ("IRIS_CONFIG", "nowhere", "nowhere; set PERF_GATE_IRIS_CONFIG"),
        ("SANDBOX_TOOLS", "nowhere", "nowhere to read tools from; set PERF_GATE_SANDBOX_TOOLS"),
    ],
)
def test_serve_names_the_folder_or_program_it_cannot_use(
    environment: pytest.MonkeyPatch, tmp_path: Path, name: str, value: str, told: str
) -> None:
    (tmp_path / "a file").write_text("")
    (tmp_path / "iris").write_text("")
    environment.setenv("PERF_GATE_STATE_DIR", str(tmp_path / "state"))
    environment.setenv("PERF_GATE_IRIS_COMMAND", str(tmp_path / "iris"))
    if name == "IRIS_CONFIG":
        environment.delenv("PERF_GATE_IRIS_CONTROLLER_URL")
    environment.setenv(f"PERF_GATE_{name}", str(tmp_path / value))
    # A process of its own: a server that starts sets up logging and its umask for all of its process.
    program = Path(sys.executable).parent / "perf-gate"
    result = subprocess.run([program, "serve"], capture_output=True, text=True, check=False)
    assert result.returncode == 2
    assert told in result.stderr
    assert str(tmp_path / value) in result.stderr


@pytest.mark.parametrize("where", ["gs://marin-us-central1/infra/datakit/ferry_perf/", "gs://reports"])
def test_the_mirror_of_reports_is_a_bucket_and_a_folder(environment: pytest.MonkeyPatch, where: str) -> None:
    assert load_settings().perf_reports is None
    environment.setenv("PERF_GATE_PERF_REPORTS", where)
    assert load_settings().perf_reports == where.rstrip("/")


@pytest.mark.parametrize("where", ["s3://reports", "/reports", "gs://", "gs://r/../x?y", "gs://reports//x", "reports"])
def test_another_place_is_refused(environment: pytest.MonkeyPatch, where: str) -> None:
    environment.setenv("PERF_GATE_PERF_REPORTS", where)
    with pytest.raises(MissingSettings, match="PERF_GATE_PERF_REPORTS: not gs://bucket/folder"):
        load_settings()


def serve(environment: pytest.MonkeyPatch, tmp_path: Path, prelude: str = "") -> subprocess.CompletedProcess[str]:
    """In a process of its own, with folders and program in place; `prelude` is Python that goes before."""
    (tmp_path / "iris").write_text("")
    if os.environ["PERF_GATE_PRIVATE_KEY"] == PEM:
        environment.setenv("PERF_GATE_PRIVATE_KEY", key_pair()[0])
    environment.setenv("PERF_GATE_STATE_DIR", str(tmp_path / "state"))
    environment.setenv("PERF_GATE_IRIS_COMMAND", str(tmp_path / "iris"))
    code = f"import sys\n{prelude}\nfrom bot.cli import main\nmain(['serve'])"
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)


def test_serve_says_what_is_missing_for_postgresql(environment: pytest.MonkeyPatch, tmp_path: Path) -> None:
    environment.setenv("PERF_GATE_DATABASE_URL", "postgresql://bot:hunter2@localhost/gate")
    result = serve(environment, tmp_path, "sys.modules['procrastinate'] = None")
    assert result.returncode == 2
    assert "PERF_GATE_DATABASE_URL is set, but PostgreSQL's libraries are missing" in result.stderr
    assert "pip install '.[postgres]' in the clone" in result.stderr


def test_serve_names_the_database_it_cannot_reach(environment: pytest.MonkeyPatch, tmp_path: Path) -> None:
    environment.setenv("PERF_GATE_DATABASE_URL", f"postgresql://bot:hunter2@/gate?host={tmp_path}")
    result = serve(environment, tmp_path)
    assert result.returncode == 2
    assert f"perf-gate cannot start: database gate at {tmp_path} cannot be reached" in result.stderr
    assert "hunter2" not in result.stderr + result.stdout


def test_serve_ends_soon_with_a_key_whose_numbers_are_damaged(environment: pytest.MonkeyPatch, tmp_path: Path) -> None:
    environment.setenv("PERF_GATE_PRIVATE_KEY", damaged(key_pair()[0]))
    environment.setenv("PERF_GATE_PORT", "0")
    result = serve(environment, tmp_path)
    assert result.returncode == 2
    told = "perf-gate cannot start: The GitHub App's private key (PERF_GATE_PRIVATE_KEY) is damaged; set it again"
    assert told in result.stderr
    assert "Traceback" not in result.stderr


def test_a_backup_of_postgresql_is_pg_dumps(environment: pytest.MonkeyPatch, tmp_path: Path) -> None:
    environment.setenv("PERF_GATE_DATABASE_URL", "postgresql://bot:hunter2@localhost/gate")
    result = CliRunner().invoke(main, ["backup", str(tmp_path / "copy")])
    assert result.exit_code == 2
    assert 'pg_dump --format=custom --file=FILE "$PERF_GATE_DATABASE_URL"' in result.output
    assert not (tmp_path / "copy").exists()


def test_a_backup_asks_only_where_the_state_is(environment: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in COMPLETE:
        environment.delenv(f"PERF_GATE_{name}")
    result = CliRunner().invoke(main, ["backup", str(tmp_path / "copy")])
    assert (result.exit_code, "perf-gate does not know where its state is" in result.output) == (2, True)
    environment.setenv("PERF_GATE_STATE_DIR", str(tmp_path / "state"))
    assert "no backup: there is no database" in CliRunner().invoke(main, ["backup", str(tmp_path / "copy")]).output


def test_a_backup_without_a_database_says_so(environment: pytest.MonkeyPatch, tmp_path: Path) -> None:
    environment.setenv("PERF_GATE_STATE_DIR", str(tmp_path / "state"))
    result = CliRunner().invoke(main, ["backup", str(tmp_path / "copy")])
    assert result.exit_code == 1
    assert f"no backup: there is no database at {tmp_path / 'state' / 'perf-gate.db'}" in result.output


def test_the_databases_password_is_a_secret(environment: pytest.MonkeyPatch) -> None:
    environment.setenv("PERF_GATE_DATABASE_URL", "postgresql://bot:hunter%402@host/gate")
    settings = load_settings()
    assert "hunter" not in repr(settings)
    assert {"hunter@2", "s3cret-s3cret"} <= set(settings.secrets)


def test_serve_without_settings_lists_what_is_missing_and_exits_2(environment: pytest.MonkeyPatch) -> None:
    for name in COMPLETE:
        environment.delenv(f"PERF_GATE_{name}")
    result = CliRunner().invoke(main, ["serve"])
    assert result.exit_code == 2
    for name in ("APP_ID", "PRIVATE_KEY", "WEBHOOK_SECRET", "REPOSITORIES", "STATE_DIR", "STATUS_PREFIX"):
        assert f"PERF_GATE_{name}: missing (" in result.output
    assert "PERF_GATE_IRIS_CONTROLLER_URL or PERF_GATE_IRIS_CONFIG: missing (" in result.output


@pytest.mark.parametrize(
    ("name", "value", "problem"),
    [
        ("PACKAGE_INDEX", "http://pypi.org/simple", "must be a plain address such as https://pypi.org/simple"),
        ("PACKAGE_HOSTS", "pypi.org,evil host", "'evil host' is neither host nor host:port"),
        ("MIRROR_MB", "0", "must be at least 1"),
    ],
)
def test_what_the_sandbox_reaches_is_checked(
    environment: pytest.MonkeyPatch, name: str, value: str, problem: str
) -> None:
    environment.setenv(f"PERF_GATE_{name}", value)
    with pytest.raises(MissingSettings, match=problem):
        load_settings()
