"""/api/policy and /api/personas/{id}/policy"""

from typing import Annotated

from litestar import Controller, get, put
from litestar.di import NamedDependency

from api.auth import ADMINS, OPERATORS
from api.bodies import PathId, like
from api.errors import problems
from engine.access import Caller
from engine.policy import (
    Layer,
    PersonaPolicy,
    read_persona_policy,
    read_tenant_policy,
    set_persona_policy,
    set_tenant_policy,
)
from engine.recall import Recall
from engine.service import Clock
from engine.store import Graph

EXAMPLE = like(
    figures={"decay_days": 60},
    types={"somatic": {"decay_curve": "exponential"}},
    categories={"plan": {"archive_days": 30}},
)


class TenantLayer(Layer, frozen=True, forbid_unknown_fields=True):
    """What a tenant changes of the policy."""


class PersonaLayer(Layer, frozen=True, forbid_unknown_fields=True):
    """What a persona changes of the policy."""


class PolicyController(Controller):
    tags = ("policy",)

    @get(
        "/policy",
        operation_id="get_tenant_policy",
        guards=[OPERATORS],
        responses=problems(),
    )
    async def of_tenant(
        self, caller: NamedDependency[Caller], graph: NamedDependency[Graph]
    ) -> Layer:
        """What the tenant changes of the policy, for all its personas."""
        return await read_tenant_policy(graph, caller.tenant_id)

    @put(
        "/policy",
        operation_id="set_tenant_policy",
        guards=[ADMINS],
        responses=problems(413),
    )
    async def set_of_tenant(
        self,
        data: Annotated[TenantLayer, EXAMPLE],
        caller: NamedDependency[Caller],
        graph: NamedDependency[Graph],
        clock: NamedDependency[Clock],
        recall: NamedDependency[Recall],
    ) -> Layer:
        """Change the policy under all personas; what is not named goes back to the default."""
        now = await clock.now()
        layer = await set_tenant_policy(graph, caller.tenant_id, data, by=caller.acts_as, now=now)
        recall.forget_cards(caller.tenant_id)
        return layer

    @get(
        "/personas/{persona_id:str}/policy",
        operation_id="get_policy",
        guards=[OPERATORS],
        responses=problems(404),
    )
    async def of_persona(
        self, persona_id: PathId, caller: NamedDependency[Caller], graph: NamedDependency[Graph]
    ) -> PersonaPolicy:
        """The policy a persona lives under, and what it changes itself."""
        return await read_persona_policy(graph, caller.tenant_id, persona_id)

    @put(
        "/personas/{persona_id:str}/policy",
        operation_id="set_policy",
        guards=[ADMINS],
        responses=problems(404, 413),
    )
    async def set_of_persona(
        self,
        persona_id: PathId,
        data: Annotated[PersonaLayer, EXAMPLE],
        caller: NamedDependency[Caller],
        graph: NamedDependency[Graph],
        clock: NamedDependency[Clock],
        recall: NamedDependency[Recall],
    ) -> PersonaPolicy:
        """Change a persona's policy; what is not named is the tenant's, or the default.

        Its next night looks at every memory once.
        """
        now = await clock.now()
        policy = await set_persona_policy(
            graph, caller.tenant_id, persona_id, data, by=caller.acts_as, now=now
        )
        recall.forget_cards(caller.tenant_id, persona_id)
        return policy
