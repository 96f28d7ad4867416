"""/api/policy and /api/personas/{id}/policy: how memories fade"""

from datetime import datetime
from typing import Annotated

from litestar import Controller, get, put
from litestar.di import NamedDependency

from api.auth import ADMINS, OPERATORS
from api.bodies import body_example
from api.errors import problems
from api.parameters import PathId
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
from engine.store import Graph

POLICY_EXAMPLE = body_example(
    figures={"decay_days": 60},
    types={"somatic": {"decay_curve": "exponential"}},
    categories={"plan": {"archive_days": 30}},
)


class TenantLayer(Layer, frozen=True, forbid_unknown_fields=True):
    """The tenant's changes to the default policy."""


class PersonaLayer(Layer, frozen=True, forbid_unknown_fields=True):
    """A persona's changes to the tenant's policy."""


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
        """Get the tenant's changes to the default policy; they hold for all its personas."""
        return await read_tenant_policy(graph, caller.tenant_id)

    @put(
        "/policy",
        operation_id="set_tenant_policy",
        guards=[ADMINS],
        responses=problems(413),
    )
    async def set_of_tenant(
        self,
        data: Annotated[TenantLayer, POLICY_EXAMPLE],
        caller: NamedDependency[Caller],
        graph: NamedDependency[Graph],
        now: NamedDependency[datetime],
        recall: NamedDependency[Recall],
    ) -> Layer:
        """Replace the tenant's changes to the policy. What is left out is the default again."""
        layer = await set_tenant_policy(graph, caller.tenant_id, data, by=caller.acts_as, now=now)
        recall.forget_profiles(caller.tenant_id)
        return layer

    @get(
        "/personas/{persona_id:str}/policy",
        operation_id="get_policy",
        summary="Get the policy of a persona",
        guards=[OPERATORS],
        responses=problems(404),
    )
    async def of_persona(
        self, persona_id: PathId, caller: NamedDependency[Caller], graph: NamedDependency[Graph]
    ) -> PersonaPolicy:
        """Get the policy that holds for a persona, and which part of it is its own."""
        return await read_persona_policy(graph, caller.tenant_id, persona_id)

    @put(
        "/personas/{persona_id:str}/policy",
        operation_id="set_policy",
        summary="Set the policy of a persona",
        guards=[ADMINS],
        responses=problems(404, 413),
    )
    async def set_of_persona(
        self,
        persona_id: PathId,
        data: Annotated[PersonaLayer, POLICY_EXAMPLE],
        caller: NamedDependency[Caller],
        graph: NamedDependency[Graph],
        now: NamedDependency[datetime],
        recall: NamedDependency[Recall],
    ) -> PersonaPolicy:
        """Replace a persona's changes to the policy.

        What is left out is the tenant's, or the default. The next night looks at all memories.
        """
        policy = await set_persona_policy(
            graph, caller.tenant_id, persona_id, data, by=caller.acts_as, now=now
        )
        recall.forget_profiles(caller.tenant_id, persona_id)
        return policy
