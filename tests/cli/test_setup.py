"""From nothing to a registered App: the manifest flow on a simulated GitHub, and the walk by hand."""

from __future__ import annotations

import asyncio
import errno
import html
import io
import json
import os
import re
import stat
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from click.testing import CliRunner, Result

from bot.cli import main
from bot.cli.setup.keeping import make_ready
from bot.cli.setup.page import Wish, public_url, served
from bot.config.environment import load_settings
from bot.faults import Fault
from bot.github import manifest
from simulator import Simulator
from simulator.state import DEFAULT_EVENTS
from tests.conversations.world import key_pair


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    for name in list(os.environ):
        if name.startswith("PERF_GATE_"):
            monkeypatch.delenv(name)
    return monkeypatch


def wish(sim: Simulator, folder: Path, **more: Any) -> Wish:
    return Wish("https://gate.example.org/webhook", folder, sim.web_url, sim.api_url, **more)


async def press(session: aiohttp.ClientSession, page: str) -> tuple[str, str]:
    """What a person does: open the page, press the button. Where that leads, and GitHub's answer to it."""
    async with session.get(page) as answer:
        form = await answer.text()
    action = re.search(r'action="([^"]+)"', form)
    value = re.search(r'name="manifest" value="([^"]+)"', form)
    assert action is not None
    assert value is not None
    data = {"manifest": html.unescape(value[1])}
    async with session.post(html.unescape(action[1]), data=data, allow_redirects=False) as answer:
        assert answer.status == 302, await answer.text()
        return answer.headers["Location"], html.unescape(value[1])


async def test_the_manifest_flow_leaves_an_app_that_serve_can_start_with(
    tmp_path: Path, environment: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "app"
    async with Simulator() as sim, aiohttp.ClientSession() as session:
        async with served(wish(sim, folder, organization="marin-community"), 0) as page:
            back, sent = await press(session, page.address)
            assert back.startswith(f"{page.address}/registered?code=")
            assert json.loads(sent)["default_permissions"] == manifest.permissions()
            async with session.get(back) as answer:
                said = await answer.text()
                assert answer.status == 200
            steps = await page.done
        (app,) = sim.world.apps.values()
        assert sim.world.violations == []
        assert (app.owner.login, app.permissions) == ("marin-community", manifest.permissions())
        assert app.webhook_url == "https://gate.example.org/webhook"
        assert f"{app.slug}/installations/new" in steps
        assert "perf-gate serve" in html.unescape(said)
        assert app.webhook_secret not in said + steps
        assert "PRIVATE KEY" not in said + steps
    assert "PERF_GATE_PUBLIC_URL=https://gate.example.org\n" in (folder / "app.env").read_text()
    assert {file.name: stat.S_IMODE(file.stat().st_mode) for file in folder.iterdir()} == {
        "private-key.pem": 0o600,
        "webhook-secret": 0o600,
        "app.env": 0o600,
    }
    for line in (folder / "app.env").read_text().splitlines():
        name, _, value = line.partition("=")
        environment.setenv(name, value)
    for name, value in {"REPOSITORIES": "a/b", "STATE_DIR": "/s", "STATUS_PREFIX": "/p"}.items():
        environment.setenv(f"PERF_GATE_{name}", value)
    environment.setenv("PERF_GATE_IRIS_CONTROLLER_URL", "http://iris")
    settings = load_settings()
    assert (settings.app_id, settings.webhook_secret.get_secret_value()) == (app.id, app.webhook_secret)
    assert "PRIVATE KEY" in settings.private_key.get_secret_value()


async def test_a_key_that_the_disk_does_not_take_is_held_until_it_does(tmp_path: Path) -> None:
    folder = tmp_path / "app"
    async with (
        Simulator() as sim,
        aiohttp.ClientSession() as session,
        served(wish(sim, folder), 0) as page,
    ):
        back, _ = await press(session, page.address)
        # In the folder's place stands something else since the page was opened.
        folder.write_text("in the way")
        for _ in range(2):
            async with session.get(back) as answer:
                said = await answer.text()
                assert answer.status == 507
            assert "Registered, but not kept yet" in said
            assert "Mend that, and load this page again" in said
            assert "PRIVATE KEY" not in said
        assert folder.read_text() == "in the way"
        folder.unlink()
        async with session.get(back) as answer:
            assert answer.status == 200
        assert "is registered" in await page.done
    assert len(sim.world.apps) == 1
    assert "PRIVATE KEY" in (folder / "private-key.pem").read_text()


def test_nothing_is_registered_where_no_key_could_be_kept(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder")
    refused = run("--url", "https://gate.example.org", "--to", str(tmp_path / "file" / "app"))
    assert refused.exit_code == 2
    assert "the App's credentials cannot be kept in" in refused.output


def test_a_disk_that_was_full_is_tried_again_once_it_has_room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Full(io.StringIO):
        def write(self, _text: str) -> int:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    def full(descriptor: int, *_: object, **__: object) -> Full:
        os.close(descriptor)
        return Full()

    with monkeypatch.context() as at_first:
        at_first.setattr(os, "fdopen", full)
        with pytest.raises(Fault, match="No space left on device"):
            make_ready(tmp_path / "app")
    make_ready(tmp_path / "app")
    assert list((tmp_path / "app").iterdir()) == []


@pytest.mark.parametrize(
    ("door", "pages"),
    [
        ("https://gate.example.org/webhook", "https://gate.example.org"),
        ("https://example.org/gate/webhook", "https://example.org/gate"),
        ("https://user@example.org/webhook", ""),
    ],
)
def test_the_pages_are_where_the_door_is(door: str, pages: str) -> None:
    assert public_url(door) == pages


async def test_an_answer_with_another_state_is_refused_and_nothing_is_kept(tmp_path: Path) -> None:
    async with (
        Simulator() as sim,
        aiohttp.ClientSession() as session,
        served(wish(sim, tmp_path / "app"), 0) as page,
    ):
        back, _ = await press(session, page.address)
        for forged in (back.replace(page.state, "guessed"), back.partition("&state")[0]):
            async with session.get(forged) as answer:
                assert (answer.status, "not this page" in await answer.text()) == (403, True)
        assert not (tmp_path / "app").exists()
        assert not page.done.done()


async def test_a_code_is_good_once_and_a_forged_one_never(tmp_path: Path) -> None:
    async with (
        Simulator() as sim,
        aiohttp.ClientSession() as session,
        served(wish(sim, tmp_path / "app"), 0) as page,
    ):
        for code in ("0123456789abcdef", "../../app", ""):
            async with session.get(f"{page.address}/registered", params={"code": code, "state": page.state}) as one:
                assert (one.status, "begin again" in await one.text()) == (502, True)
        back, _ = await press(session, page.address)
        for status in (200, 409):
            async with session.get(back) as answer:
                assert answer.status == status
    assert len(sim.world.apps) == 1


def run(*words: str) -> Result:
    return CliRunner().invoke(main, ["setup", *words])


def test_an_apps_only_key_is_never_overwritten(tmp_path: Path) -> None:
    (tmp_path / "private-key.pem").write_text("precious")
    result = run("--url", "https://gate.example.org", "--to", str(tmp_path))
    assert result.exit_code == 2
    assert "may be an App's only key; move it away, or set --to" in result.output
    assert (tmp_path / "private-key.pem").read_text() == "precious"


def test_the_walk_names_every_permission_and_event(tmp_path: Path) -> None:
    said = run("--by-hand", "--url", "https://gate.example.org").output
    assert "URL https://gate.example.org/webhook" in said
    for name, level in manifest.permissions().items():
        assert f"{name.replace('_', ' ')}: {level}" in said
    for event in manifest.events():
        assert f"       {event.replace('_', ' ')}\n" in said
    assert "https://YOUR-HOST/webhook" in run("--by-hand").output
    assert "Give --url" in run().output
    assert "not an address" in run("--url", "gate.example.org").output


def test_half_of_an_app_is_not_checked(tmp_path: Path) -> None:
    half = run("--by-hand", "--app-id", "7")
    assert (half.exit_code, "give --private-key and --webhook-secret-file too" in half.output) == (2, True)
    alone = run("--private-key", "key.pem", "--url", "https://gate.example.org")
    assert (alone.exit_code, "give --by-hand too" in alone.output) == (2, True)


@pytest.mark.parametrize("lacks", [False, True])
async def test_what_was_registered_by_hand_is_checked_before_it_is_kept(
    tmp_path: Path, environment: pytest.MonkeyPatch, lacks: bool
) -> None:
    private, public = key_pair()
    (tmp_path / "key.pem").write_text(private)
    (tmp_path / "secret").write_text("a webhook secret\n")
    wanted = manifest.permissions()
    async with Simulator() as sim:
        permissions = dict.fromkeys(wanted, "read") if lacks else wanted
        events = DEFAULT_EVENTS[:1] if lacks else tuple(manifest.events())
        app = await sim.create_app(public_key=public, permissions=permissions, events=events)
        environment.setenv("PERF_GATE_GITHUB_API_URL", sim.api_url)
        words = ["--app-id", str(app.id), "--private-key", str(tmp_path / "key.pem")]
        words += ["--webhook-secret-file", str(tmp_path / "secret"), "--to", str(tmp_path / "kept")]
        result = await asyncio.to_thread(run, "--by-hand", *words)
    assert result.exit_code == (2 if lacks else 0), result.output
    if lacks:
        assert "permission issues: write is wanted, the App has read" in result.output
        assert "event pull_request is not subscribed to" in result.output
        assert not (tmp_path / "kept").exists()
    else:
        assert (tmp_path / "kept" / "webhook-secret").read_text() == "a webhook secret\n"


def test_a_secret_may_be_a_file_but_not_two_things_at_once(tmp_path: Path, environment: pytest.MonkeyPatch) -> None:
    from bot.config.environment import MissingSettings, secret_value

    (tmp_path / "secret").write_text("from a file\n")
    environment.setenv("PERF_GATE_WEBHOOK_SECRET_FILE", str(tmp_path / "secret"))
    assert secret_value("webhook_secret") == "from a file"
    environment.setenv("PERF_GATE_WEBHOOK_SECRET", "from the environment")
    with pytest.raises(MissingSettings, match="both PERF_GATE_WEBHOOK_SECRET and PERF_GATE_WEBHOOK_SECRET_FILE"):
        secret_value("webhook_secret")
    environment.delenv("PERF_GATE_WEBHOOK_SECRET")
    (tmp_path / "secret").unlink()
    with pytest.raises(MissingSettings, match="cannot be read: No such file or directory"):
        secret_value("webhook_secret")
