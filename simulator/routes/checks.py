"""Check runs, which only Apps may write, each its own."""

from __future__ import annotations

from simulator.call import Call, Reply
from simulator.check_payloads import check_run
from simulator.checks import Changes, Checks
from simulator.errors import Refusal, not_accessible, not_found
from simulator.paging import page
from simulator.routes.writing import acting_app
from simulator.state import CheckRun, Repository

# The description gives the first three; the request is refused all the same where they are broken.
MOST_LABEL, MOST_IDENTIFIER, MOST_ACTIONS = 20, 20, 3
MOST_DESCRIPTION = 40
MOST_OUTPUT = 65_535


class CheckRoutes:
    def __init__(self, checks: Checks) -> None:
        self._checks = checks

    async def list(self, call: Call) -> Reply:
        """Of one commit; `filter` latest (the default) hides earlier runs of the same name."""
        repository = call.repository("checks", "read")
        sha = await repository.git.resolve(call.params["ref"])
        if sha is None:
            raise Refusal(422, f"No commit found for SHA: {call.params['ref']}")
        found = [run for suite in repository.check_suites if suite.head_sha == sha for run in suite.runs]
        if call.query.get("filter", "latest") == "latest":
            found = list({(run.suite.id, run.name): run for run in found}.values())
        for name, attribute in (("check_name", "name"), ("status", "status")):
            if (wanted := call.query.get(name)) is not None:
                found = [run for run in found if getattr(run, attribute) == wanted]
        if "app_id" in call.query:
            found = [run for run in found if str(run.suite.app.id) == call.query["app_id"]]
        if call.hide_after_id is not None:
            found = [run for run in found if run.id <= call.hide_after_id]
        shown, headers = page(call, sorted(found, key=lambda run: run.id, reverse=True))
        runs = [check_run(call.world, run) for run in shown]
        return Reply(200, {"total_count": len(found), "check_runs": runs}, headers)

    async def create(self, call: Call) -> Reply:
        repository = call.repository("checks", "write")
        wanted, body = _changes(call), call.body or {}
        sha = await repository.git.resolve(str(body.get("head_sha", "")))
        if sha is None or sha != body.get("head_sha"):
            raise Refusal(422, f"No commit found for SHA: {body.get('head_sha')}")
        run = await self._checks.create(repository, acting_app(call), sha, wanted)
        return Reply(201, check_run(call.world, run))

    async def get(self, call: Call) -> Reply:
        return Reply(200, check_run(call.world, _run(call, call.repository("checks", "read"))))

    async def update(self, call: Call) -> Reply:
        run = _run(call, call.repository("checks", "write"))
        if run.suite.app is not acting_app(call):
            raise not_accessible("checks", "write")
        await self._checks.update(run, _changes(call))
        return Reply(200, check_run(call.world, run))


def _run(call: Call, repository: Repository) -> CheckRun:
    run = call.world.check_runs.get(call.number("check_run_id"))
    if run is None or run.suite.repository is not repository:
        raise not_found()
    return run


def _changes(call: Call) -> Changes:
    """Raises Refusal 422 for what GitHub would not take."""
    body = call.body if isinstance(call.body, dict) else {}
    output, actions = body.get("output"), body.get("actions") or []
    if body.get("status") == "completed" and not body.get("conclusion"):
        raise Refusal(422, 'Invalid request.\n\n"conclusion" wasn\'t supplied.')
    if output is not None and any(len(output.get(name) or "") > MOST_OUTPUT for name in ("summary", "text")):
        raise Refusal(422, f"Invalid request.\n\nOnly {MOST_OUTPUT} characters are allowed.")
    if len(actions) > MOST_ACTIONS:
        raise Refusal(422, "Invalid request.\n\nNo more than 3 actions are allowed.")
    for action in actions:
        for name, most in (("label", MOST_LABEL), ("identifier", MOST_IDENTIFIER), ("description", MOST_DESCRIPTION)):
            if not 0 < len(str(action.get(name, ""))) <= most:
                raise Refusal(422, f"Invalid request.\n\n{name} is too long (maximum is {most} characters).")
    return Changes(
        name=body.get("name"),
        external_id=body.get("external_id"),
        details_url=body.get("details_url"),
        status=body.get("status"),
        conclusion=body.get("conclusion"),
        output=output,
        actions=body.get("actions"),
    )
