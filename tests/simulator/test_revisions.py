"""Diffs, files and commits come from a real repository, with GitHub's limits."""

from __future__ import annotations

import base64

from simulator.simulator import Simulator
from tests.simulator.client import AppClient, Listener

MARIN = "marin-community/marin"


async def test_a_pull_request_tells_its_diff_from_the_merge_base(simulator: Simulator, github: AppClient) -> None:
    pull = await simulator.open_pull(
        MARIN,
        author="alice",
        title="Sort faster",
        files={
            "lib/zephyr/plan.py": "".join(f"line {number}\n" for number in range(40)) + "one more\n",
            "lib/zephyr/logo.png": b"\x89PNG\x00\x09",
            "docs/new.md": "hello\n",
            "README.md": None,
        },
    )
    await simulator.commit(MARIN, "main", {"elsewhere.py": "1\n"})
    files = (await github.get(f"/repos/{MARIN}/pulls/{pull.number}/files")).body
    told = {file["filename"]: (file["status"], file["additions"], file["deletions"]) for file in files}
    assert told == {
        "README.md": ("removed", 0, 1),
        "docs/new.md": ("added", 1, 0),
        "lib/zephyr/logo.png": ("modified", 0, 0),
        "lib/zephyr/plan.py": ("modified", 1, 0),
    }
    patches = {file["filename"]: file.get("patch") for file in files}
    assert patches["lib/zephyr/logo.png"] is None
    assert patches["docs/new.md"] == "@@ -0,0 +1 @@\n+hello"
    body = (await github.get(f"/repos/{MARIN}/pulls/{pull.number}")).body
    assert (body["changed_files"], body["additions"], body["commits"]) == (4, 2, 1)
    assert (body["head"]["sha"], body["base"]["sha"]) == (pull.head_sha, pull.base_sha)
    assert (body["mergeable"], body["mergeable_state"]) == (True, "clean")


async def test_renames_keep_their_former_name(simulator: Simulator, github: AppClient) -> None:
    text = "".join(f"line {number}\n" for number in range(40))
    moved = {"lib/zephyr/plan.py": None, "lib/zephyr/planning.py": text + "end\n"}
    pull = await simulator.open_pull(MARIN, author="alice", files=moved)
    (file,) = (await github.get(f"/repos/{MARIN}/pulls/{pull.number}/files")).body
    assert (file["status"], file["previous_filename"], file["filename"]) == (
        "renamed",
        "lib/zephyr/plan.py",
        "lib/zephyr/planning.py",
    )
    assert (file["additions"], file["deletions"]) == (1, 0)


async def test_many_files_come_in_pages(simulator: Simulator, github: AppClient) -> None:
    files: dict[str, str | bytes | None] = {f"lib/f{number:03}.py": "1\n" for number in range(305)}
    pull = await simulator.open_pull(MARIN, author="alice", files=files)
    answer = await github.get(f"/repos/{MARIN}/pulls/{pull.number}/files?per_page=100")
    names = [file["filename"] for file in answer.body]
    while "next" in answer.links:
        answer = await github.get(answer.links["next"])
        names += [file["filename"] for file in answer.body]
    assert names == sorted(files)
    compared = (await github.get(f"/repos/{MARIN}/compare/main...feature")).body
    assert len(compared["files"]) == 300


async def test_comparing_diverged_branches(simulator: Simulator, github: AppClient) -> None:
    fork_point = await simulator.world.repository(MARIN).git.resolve("main")
    tip = await simulator.commit(MARIN, "topic/x", {"a.py": "1\n"}, message="Add a")
    await simulator.commit(MARIN, "main", {"b.py": "1\n"})
    compared = (await github.get(f"/repos/{MARIN}/compare/main...topic%2Fx")).body
    assert (compared["status"], compared["ahead_by"], compared["behind_by"]) == ("diverged", 1, 1)
    assert compared["merge_base_commit"]["sha"] == fork_point
    assert [commit["sha"] for commit in compared["commits"]] == [tip]
    assert [file["filename"] for file in compared["files"]] == ["a.py"]
    second = (await github.get(f"/repos/{MARIN}/compare/main...topic/x?page=2")).body
    assert "files" not in second
    assert (await github.get(f"/repos/{MARIN}/compare/main...nowhere")).status == 404


async def test_a_fork_is_compared_by_owner_and_lives_on_in_the_base(
    simulator: Simulator, github: AppClient, listener: Listener
) -> None:
    pull = await simulator.open_pull(MARIN, author="frank", fork_owner="frank", files={"a.py": "1\n"})
    body = (await github.get(f"/repos/{MARIN}/pulls/{pull.number}")).body
    assert (body["head"]["label"], body["head"]["repo"]["full_name"]) == ("frank:feature", "frank/marin")
    compared = (await github.get(f"/repos/{MARIN}/compare/main...frank:feature")).body
    assert compared["ahead_by"] == 1
    await simulator.push(MARIN, pull.number, {"a.py": "2\n"})
    await simulator.delete_fork(MARIN, pull.number)
    body = (await github.get(f"/repos/{MARIN}/pulls/{pull.number}")).body
    assert body["head"]["repo"] is None
    commit = (await github.get(f"/repos/{MARIN}/commits/{pull.head_sha}")).body
    assert (commit["sha"], commit["stats"]["total"]) == (pull.head_sha, 2)
    await simulator.close(MARIN, pull.number, by="frank")
    await simulator.settled()
    told = [
        (event, payload["pull_request"]["head"]["repo"] is None) for event, payload in listener.events("pull_request")
    ]
    assert told == [
        ("pull_request.opened", False),
        ("pull_request.synchronize", False),
        ("pull_request.closed", True),
    ]


async def test_the_life_of_a_pull_request_is_told(simulator: Simulator, github: AppClient, listener: Listener) -> None:
    pull = await simulator.open_pull(MARIN, author="alice", files={"a.py": "1\n"})
    before = pull.head_sha
    after = await simulator.push(MARIN, pull.number, {"a.py": "2\n"})
    await simulator.edit_pull(MARIN, pull.number, by="alice", title="Better", body="why")
    await simulator.close(MARIN, pull.number, by="alice")
    await simulator.reopen(MARIN, pull.number, by="alice")
    merged = await simulator.merge(MARIN, pull.number, by="reviewer")
    await simulator.settled()
    events = listener.events("pull_request")
    assert [event.partition(".")[2] for event, _ in events] == [
        "opened", "synchronize", "edited", "closed", "reopened", "closed",
    ]  # fmt: skip
    assert (events[1][1]["before"], events[1][1]["after"]) == (before, after)
    assert events[2][1]["changes"] == {"title": {"from": "Change something"}, "body": {"from": ""}}
    assert (events[-1][1]["pull_request"]["merged"], events[-1][1]["pull_request"]["merge_commit_sha"]) == (
        True,
        merged,
    )
    assert (await github.get(f"/repos/{MARIN}/commits/main")).body["sha"] == merged


async def test_a_file_comes_inline_or_raw_by_its_size(simulator: Simulator, github: AppClient) -> None:
    large = b"0123456789abcdef" * 70_000
    await simulator.commit(MARIN, "main", {"big.bin": large, "odd name/ä.txt": "straße\n"})
    small = (await github.get(f"/repos/{MARIN}/contents/odd%20name%2F%C3%A4.txt?ref=main")).body
    assert base64.b64decode(small["content"]).decode() == "straße\n"
    assert small["path"] == "odd name/ä.txt"
    big = (await github.get(f"/repos/{MARIN}/contents/big.bin")).body
    assert (big["encoding"], big["content"], big["size"]) == ("none", "", len(large))
    raw = await github.get(f"/repos/{MARIN}/contents/big.bin", headers={"Accept": "application/vnd.github.raw+json"})
    assert raw.body == large


async def test_a_patch_is_absent_where_it_would_be_too_large(simulator: Simulator, github: AppClient) -> None:
    pull = await simulator.open_pull(MARIN, author="alice", files={"large.csv": "1\n" * 20_001, "small.csv": "1\n"})
    files = (await github.get(f"/repos/{MARIN}/pulls/{pull.number}/files")).body
    told = {file["filename"]: (file["additions"], "patch" in file) for file in files}
    assert told == {"large.csv": (20_001, False), "small.csv": (1, True)}


async def test_a_symlink_is_followed_inside_the_repository_only(simulator: Simulator, github: AppClient) -> None:
    git = simulator.world.repository(MARIN).git
    entries = {"real.txt": ("100644", "words"), "inside": ("120000", "real.txt"), "outside": ("120000", "/etc/passwd")}
    lines = []
    for name, (mode, content) in entries.items():
        sha = (await git.run("hash-object", "-w", "--stdin", stdin=content.encode())).decode().strip()
        lines.append(f"{mode} blob {sha}\t{name}\n")
    tree = (await git.run("mktree", stdin="".join(lines).encode())).decode().strip()
    who = simulator.world.identity(simulator.account("alice"))
    await simulator.move_branch(MARIN, "links", await git.commit_tree(tree, parents=[], message="Link", identity=who))
    inside = (await github.get(f"/repos/{MARIN}/contents/inside?ref=links")).body
    assert (inside["type"], base64.b64decode(inside["content"])) == ("file", b"words")
    outside = (await github.get(f"/repos/{MARIN}/contents/outside?ref=links")).body
    assert (outside["type"], outside["target"]) == ("symlink", "/etc/passwd")
    assert (await github.get(f"/repos/{MARIN}/contents/..%2Fetc")).status == 404


async def test_folders_absent_files_and_absent_revisions(simulator: Simulator, github: AppClient) -> None:
    listing = (await github.get(f"/repos/{MARIN}/contents/lib/zephyr")).body
    assert [(entry["name"], entry["type"]) for entry in listing] == [("logo.png", "file"), ("plan.py", "file")]
    root = (await github.get(f"/repos/{MARIN}/contents/")).body
    assert {entry["name"]: entry["type"] for entry in root}["lib"] == "dir"
    assert (await github.get(f"/repos/{MARIN}/contents/absent.toml")).status == 404
    assert (await github.get(f"/repos/{MARIN}/contents/README.md?ref=absent")).status == 404
    refused = await github.get(f"/repos/{MARIN}/commits/absent")
    assert (refused.status, refused.body["message"]) == (422, "No commit found for SHA: absent")
