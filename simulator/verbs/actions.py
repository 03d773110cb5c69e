"""Workflow runs and the artifacts they leave."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta

from simulator.state import Artifact, WorkflowRun
from simulator.verbs.parts import Parts, RepositoryOrName

# GitHub keeps an artifact ninety days unless told otherwise.
ARTIFACT_LIFE = timedelta(days=90)


class ActionVerbs(Parts):
    async def workflow_run(
        self,
        repository: RepositoryOrName,
        workflow: str,
        *,
        event: str = "schedule",
        branch: str | None = None,
        status: str = "completed",
        conclusion: str | None = "success",
        head_sha: str | None = None,
        created_at: datetime | None = None,
        artifacts: Mapping[str, bytes] | None = None,
        actor: str = "octocat",
    ) -> WorkflowRun:
        """A run of the workflow file (`tier1.yml`), with artifacts by name; each is the bytes of a zip."""
        where = self._repository(repository)
        ref = branch or where.default_branch
        sha = head_sha or await where.git.resolve(f"refs/heads/{ref}")
        if sha is None:
            raise LookupError(f"{where.full_name} has no branch {ref}")
        message = (await where.git.run("log", "-1", "--format=%B", sha)).decode(errors="replace").strip()
        when = created_at or self.world.clock.now()
        run = WorkflowRun(
            id=self.world.next_id(),
            number=sum(known.workflow == workflow for known in where.runs) + 1,
            repository=where,
            workflow=workflow,
            workflow_id=where.workflows.setdefault(workflow, self.world.next_id()),
            event=event,
            branch=ref,
            head_sha=sha,
            message=message,
            status=status,
            conclusion=conclusion if status == "completed" else None,
            actor=self.world.account(actor),
            created_at=when,
            updated_at=when,
        )
        self.world.next_id()  # the check suite's id, one above the run's
        for name, content in (artifacts or {}).items():
            run.artifacts.append(Artifact(self.world.next_id(), name, content, when, when + ARTIFACT_LIFE))
        where.runs.append(run)
        await self.world.changed()
        return run

    async def expire_artifacts(self, run: WorkflowRun | int) -> None:
        """From now on a download is answered 410."""
        key = run if isinstance(run, int) else run.id
        now = self.world.clock.now()
        for repository in self.world.repositories.values():
            for known in repository.runs:
                if known.id == key:
                    for artifact in known.artifacts:
                        artifact.expires_at = now
        await self.world.changed()
