"""/api/personas/{id}/runs, /api/runs/{id}, and snapshots of the persona"""

from litestar import Controller, get
from litestar.di import NamedDependency

from api.auth import OPERATORS
from api.errors import problems
from api.parameters import Cursor, Limit, PathId
from engine.access import Caller
from engine.memory import Change
from engine.night import Run, Snapshot, get_run, list_changes, list_runs, list_snapshots
from engine.store import Graph, Page


class RunController(Controller):
    tags = ("runs",)

    @get(
        "/personas/{persona_id:str}/runs",
        operation_id="list_runs",
        guards=[OPERATORS],
        responses=problems(404),
    )
    async def page(
        self,
        persona_id: PathId,
        caller: NamedDependency[Caller],
        graph: NamedDependency[Graph],
        limit: Limit = 50,
        cursor: Cursor = None,
    ) -> Page[Run]:
        """List a persona's nightly and hourly runs, the newest first, with what each one did."""
        return await list_runs(graph, caller.tenant_id, persona_id, cursor=cursor, limit=limit)

    @get(
        "/personas/{persona_id:str}/snapshots",
        operation_id="list_snapshots",
        guards=[OPERATORS],
        responses=problems(404),
    )
    async def snapshots(
        self,
        persona_id: PathId,
        caller: NamedDependency[Caller],
        graph: NamedDependency[Graph],
        limit: Limit = 50,
        cursor: Cursor = None,
    ) -> Page[Snapshot]:
        """List snapshots of a persona after its runs, the newest first."""
        return await list_snapshots(graph, caller.tenant_id, persona_id, cursor=cursor, limit=limit)

    @get("/runs/{run_id:str}", operation_id="get_run", guards=[OPERATORS], responses=problems(404))
    async def one(
        self, run_id: PathId, caller: NamedDependency[Caller], graph: NamedDependency[Graph]
    ) -> Run:
        """Get one run, stage by stage."""
        return await get_run(graph, caller.tenant_id, run_id)

    @get(
        "/runs/{run_id:str}/changes",
        operation_id="list_changes",
        summary="List the changes of a run",
        guards=[OPERATORS],
        responses=problems(404),
    )
    async def changes(
        self,
        run_id: PathId,
        caller: NamedDependency[Caller],
        graph: NamedDependency[Graph],
        cursor: Cursor = None,
    ) -> Page[Change]:
        """List what a run changed, in order, each with the value before."""
        return await list_changes(graph, caller.tenant_id, run_id, cursor=cursor)
