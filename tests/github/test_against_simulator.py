"""The adapter talks to a whole GitHub, whose referees hold every request to GitHub's own description of its API."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import pytest
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat, load_pem_private_key

from bot.baseline.model import Located, Missing
from bot.faults import Fault
from bot.github.adapter import GitHub
from bot.github.model import Gone, Permission
from bot.github.names import Marker, RepoRef
from simulator import Simulator
from simulator.clock import MovableClock
from simulator.faults import FaultKind
from simulator.git import run_git
from simulator.state import App, Installation, Repository
from tests.baseline.test_locate import REPORT, SHA, find
from tests.baseline.zips import zipped

SENTINEL = Marker("<!-- zephyr-perf-gate -->")
NAME = "acme/widgets"
BODY = f"{SENTINEL.text}\n🤖 running"
PATHS = {
    "comments": f"/repos/{NAME}/issues/*/comments",
    "comment": f"/repos/{NAME}/issues/comments/*",
}


@dataclass
class Town:
    """One repository with one pull request, and the App installed on it."""

    sim: Simulator
    gh: GitHub
    app: App
    installation: Installation
    repository: Repository
    pull: int

    @property
    def repo(self) -> RepoRef:
        return RepoRef(self.installation.id, NAME)

    async def say(self, body: str = BODY, known_id: int | None = None) -> int:
        return (await self.gh.comments.upsert(self.repo, self.pull, SENTINEL, body, known_id)).id

    async def main(self) -> str:
        sha = await self.repository.git.resolve("refs/heads/main")
        assert sha is not None
        return sha

    def said(self) -> list[str]:
        return [comment.body for comment in self.sim.comments(NAME, self.pull)]


@pytest.fixture
async def town(private_key_pem: str) -> AsyncIterator[Town]:
    clock = MovableClock(datetime(2026, 8, 3, 9, tzinfo=UTC))
    public = load_pem_private_key(private_key_pem.encode(), None).public_key()
    async with Simulator(clock=clock) as sim:
        app = await sim.create_app(
            public_key=public.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo).decode()
        )
        files = {".github/perf-gate.toml": "ladder = [1]\n", "lib/a.py": "A = 1\n"}
        repository = await sim.create_repository(NAME, files=files)
        installation = await sim.install(app, NAME)
        pull = await sim.open_pull(NAME, author="ann", title="Faster", files={"lib/a.py": "A = 2\n"}, fork_owner="ann")

        async def at_once(seconds: float) -> None:
            await sim.advance(timedelta(seconds=seconds))

        opened = GitHub.open(
            sim.api_url, str(app.id), private_key_pem, clock.now, write_spacing=timedelta(0), wait=at_once
        )
        async with opened as gh:
            yield Town(sim, gh, app, installation, repository, pull.number)
        assert sim.violations == []


async def test_app_finds_itself_its_installation_and_its_repository(town: Town) -> None:
    assert (await town.gh.app()).login == "perf-gate[bot]"
    assert await town.gh.installation(NAME) == town.installation.id
    assert await town.gh.installation("acme/elsewhere") is None
    repository = await town.gh.contents.repository(town.repo)
    assert repository is not None
    assert (repository.full_name, repository.default_branch) == (NAME, "main")


async def test_pull_request_of_a_fork_before_and_after_the_fork_is_deleted(town: Town) -> None:
    before = await town.gh.pulls.get(town.repo, town.pull)
    assert before is not None
    assert (before.author, before.is_fork, before.head_repo_full_name) == ("ann", True, "ann/widgets")
    await town.sim.delete_fork(NAME, town.pull)
    await town.sim.close(NAME, town.pull, by="ann")
    after = await town.gh.pulls.get(town.repo, town.pull)
    assert after is not None
    assert (after.is_fork, after.head_repo_full_name, after.state) == (True, None, "closed")
    assert after.head_sha == before.head_sha
    assert await town.gh.pulls.get(town.repo, 999) is None


async def test_files_of_the_default_branch(town: Town) -> None:
    main = await town.main()
    assert await town.gh.contents.read(town.repo, ".github/perf-gate.toml", main) == b"ladder = [1]\n"
    assert await town.gh.contents.read(town.repo, ".github/none.toml", main) is None
    assert await town.gh.contents.read(town.repo, "lib", main) is None
    newer = await town.sim.commit(NAME, "main", {".github/perf-gate.toml": "ladder = [1, 2]\n"})
    assert await town.gh.contents.read(town.repo, ".github/perf-gate.toml", newer) == b"ladder = [1, 2]\n"
    assert await town.gh.contents.read(town.repo, ".github/perf-gate.toml", main) == b"ladder = [1]\n"


async def test_permissions_by_role(town: Town) -> None:
    await town.sim.collaborator(NAME, "maya", "maintain")
    await town.sim.collaborator(NAME, "tim", "triage")
    maya, tim = (town.sim.world.account(login).id for login in ("maya", "tim"))
    assert await town.gh.permissions.of(town.repo, "maya") == Permission("write", "maintain", maya)
    assert await town.gh.permissions.of(town.repo, "tim") == Permission("read", "triage", tim)
    assert (await town.gh.permissions.of(town.repo, "nobody-knows")).permission == "none"
    assert (await town.gh.permissions.of(town.repo, "perf-gate[bot]")).permission == "none"


async def test_one_comment_through_a_whole_run(town: Town) -> None:
    mention = await town.sim.comment(NAME, town.pull, "ann", "@perf-gate")
    assert await town.gh.comments.react(town.repo, mention.id, "eyes")
    first = await town.say()
    assert await town.say(f"{SENTINEL.text}\n🤖 done", first) == first
    assert town.said() == ["@perf-gate", f"{SENTINEL.text}\n🤖 done"]
    listed = await town.gh.comments.list(town.repo, town.pull)
    assert [comment.author_is_own_app for comment in listed] == [False, True]


async def test_forged_sentinel_gets_no_edit(town: Town) -> None:
    await town.sim.comment(NAME, town.pull, "mallory", BODY)
    await town.say(f"{SENTINEL.text}\n🤖 true")
    assert town.said() == [BODY, f"{SENTINEL.text}\n🤖 true"]


async def test_conversation_of_many_pages(town: Town) -> None:
    for number in range(120):
        await town.sim.comment(NAME, town.pull, "ann", f"talk {number}")
    first = await town.say()
    for number in range(120):
        await town.sim.comment(NAME, town.pull, "bob", f"more talk {number}")
    assert await town.say() == first
    assert len(await town.gh.comments.list(town.repo, town.pull)) == 241


@pytest.mark.parametrize("kind", ["drop_after", "status_after"])
async def test_post_that_was_done_and_not_answered_is_found_again(town: Town, kind: FaultKind) -> None:
    town.sim.fault(kind, method="POST", path=PATHS["comments"])
    with pytest.raises(Fault) as caught:
        await town.say()
    assert caught.value.retryable
    await town.say()
    assert town.said() == [BODY]


async def test_the_same_when_the_listing_lags(town: Town) -> None:
    town.sim.fault("stale", method="GET", path=PATHS["comments"])
    town.sim.fault("drop_after", method="POST", path=PATHS["comments"])
    with pytest.raises(Fault):
        await town.say()
    town.sim.fault("stale", method="GET", path=PATHS["comments"])
    await town.say(f"{BODY} on")
    assert town.said() == [f"{BODY} on"]


@pytest.mark.parametrize("kind", ["primary_limit", "secondary_limit"])
async def test_limit_is_waited_out_without_another_request(town: Town, kind: FaultKind) -> None:
    town.sim.fault(kind, method="POST", path=PATHS["comments"], status=403)
    with pytest.raises(Fault) as caught:
        await town.say()
    wait = caught.value.retry_after
    assert wait is not None
    asked = len(town.sim.requests())
    with pytest.raises(Fault):
        await town.say()
    assert len(town.sim.requests()) == asked
    await town.sim.advance(wait)
    await town.say()
    assert town.said() == [BODY]


async def test_comment_that_is_too_long_is_refused_for_good(town: Town) -> None:
    with pytest.raises(Fault) as caught:
        await town.say(f"{BODY}{'x' * 70_000}")
    assert not caught.value.retryable
    assert "too long" in caught.value.private


async def test_token_that_expired_meanwhile_is_renewed(town: Town) -> None:
    await town.say()
    await town.sim.advance(timedelta(minutes=61))
    assert (await town.gh.pulls.get(town.repo, town.pull)) is not None
    bought = town.sim.requests("POST /app/installations/{installation_id}/access_tokens")
    assert len(bought) == 2


async def test_token_that_github_forgot_is_renewed(town: Town) -> None:
    await town.gh.pulls.get(town.repo, town.pull)
    town.sim.world.tokens.clear()
    assert await town.say()
    assert town.said() == [BODY]


async def test_permission_that_was_not_granted_is_named(town: Town) -> None:
    town.installation.permissions["issues"] = "read"
    town.installation.permissions["pull_requests"] = "read"
    with pytest.raises(Fault, match="lacks the permission `issues=write") as caught:
        await town.say()
    assert not caught.value.retryable


async def test_renamed_repository_is_still_written_to(town: Town) -> None:
    first = await town.say()
    await town.sim.rename_repository(NAME, "gadgets")
    assert await town.say(f"{BODY} on", first) == first
    await town.say(f"{BODY} further")
    assert [comment.body for comment in town.sim.comments("acme/gadgets", town.pull)] == [f"{BODY} further"]
    repository = await town.gh.contents.repository(town.repo)
    assert repository is not None
    assert repository.full_name == "acme/gadgets"


async def test_git_token_clones_a_private_repository(town: Town) -> None:
    await town.sim.create_repository("acme/secret", files={"a.txt": "a"}, private=True)
    town.installation.repositories.append(town.sim.world.repository("acme/secret"))
    token = await town.gh.token(town.installation.id)
    address = town.sim.git_url.replace("://", f"://x-access-token:{token}@")
    listed = await run_git("ls-remote", f"{address}/acme/secret.git", "refs/heads/main")
    assert listed.endswith(b"refs/heads/main\n")


async def test_baseline_of_the_schedule_is_located_and_pinned(town: Town) -> None:
    sha = await town.main()
    report = REPORT.replace(SHA, sha)
    await town.sim.workflow_run(NAME, "tier1.yaml", event="workflow_dispatch", artifacts={"tier1-report": b"no"})
    run = await town.sim.workflow_run(
        NAME, "tier1.yaml", artifacts={"tier1-report": zipped({"r.json": report.encode()})}
    )
    await town.sim.workflow_run(NAME, "tier1.yaml", conclusion="failure")
    now = town.sim.world.clock.now()
    result = await find(town.gh, town.repo, now)
    assert isinstance(result, Located)
    assert (result.pin.run_id, result.pin.sha, result.pin.report) == (run.id, sha, report)
    await town.sim.expire_artifacts(run)
    assert isinstance(await find(town.gh, town.repo, now), Missing)
    assert await town.gh.actions.download(town.repo, result.pin.artifact_id, limit=1000) == Gone()


async def test_no_workflow_means_no_baseline(town: Town) -> None:
    result = await find(town.gh, town.repo)
    assert result == Missing("`tier1.yaml` has no successful scheduled run on `main`.")


async def test_unhappy_github_is_a_fault_that_may_pass(town: Town) -> None:
    town.sim.fault("status", path=f"/repos/{NAME}/pulls/*", times=2)
    assert await town.gh.pulls.get(town.repo, town.pull) is not None
    town.sim.fault("drop", path=f"/repos/{NAME}/pulls/*", times=None)
    with pytest.raises(Fault) as caught:
        await town.gh.pulls.get(town.repo, town.pull)
    assert caught.value.retryable
