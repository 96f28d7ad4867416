"""The figures of the night and of recall, and the time of a persona's night.

A deployment, a tenant and a persona may each change them, for all memories, a type or a category.
"""

from engine.policy.hours import check_time_zone, next_night, night_of
from engine.policy.policy import Layer, PersonaPolicy, Policy, salience_after
from engine.policy.stored import (
    as_policy,
    read_persona_policy,
    read_policies_of,
    read_policy,
    read_tenant_figures,
    read_tenant_policy,
    set_deployment_policy,
    set_persona_policy,
    set_tenant_policy,
)

__all__ = [
    "Layer",
    "PersonaPolicy",
    "Policy",
    "as_policy",
    "check_time_zone",
    "next_night",
    "night_of",
    "read_persona_policy",
    "read_policies_of",
    "read_policy",
    "read_tenant_figures",
    "read_tenant_policy",
    "salience_after",
    "set_deployment_policy",
    "set_persona_policy",
    "set_tenant_policy",
]
