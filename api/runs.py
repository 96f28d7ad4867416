"""/api/personas/{id}/runs, /api/runs/{id}, and the persona as each run left it"""

from litestar import Controller, get
from litestar.di import NamedDependency

from api.auth import OPERATORS
from api.bodies import Cursor, Limit, PathId
from api.errors import problems
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
        """The persona's nights and hours, the newest first: what each did, and what it left."""
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
        """The persona as its runs left it, the newest first."""
        return await list_snapshots(graph, caller.tenant_id, persona_id, cursor=cursor, limit=limit)

    @get("/runs/{run_id:str}", operation_id="get_run", guards=[OPERATORS], responses=problems(404))
    async def one(
        self, run_id: PathId, caller: NamedDependency[Caller], graph: NamedDependency[Graph]
    ) -> Run:
        """One run, stage by stage."""
        return await get_run(graph, caller.tenant_id, run_id)

    @get(
        "/runs/{run_id:str}/changes",
        operation_id="list_changes",
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
        """What a run changed, in the order it did, with what was there before."""
        return await list_changes(graph, caller.tenant_id, run_id, cursor=cursor)
