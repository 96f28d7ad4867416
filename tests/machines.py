"""State machines over the real graph: what they have in common, and how they are run."""

import asyncio
import os
from collections.abc import Coroutine
from typing import Any, ClassVar, TypeVar

from hypothesis import HealthCheck, Phase
from hypothesis import settings as hypothesis_settings
from hypothesis.stateful import RuleBasedStateMachine, run_state_machine_as_test

from engine.ids import new_id
from engine.settings import Settings
from engine.store.graph import Graph
from tests.conftest import clear

T = TypeVar("T")

ROUNDS = int(os.environ.get("FAULT_ROUNDS", "1"))  # `make faults` takes more


class Machine(RuleBasedStateMachine):
    """Lives in tenants of its own, of which nothing is left. Rules run on a loop of their own."""

    settings: ClassVar[Settings]

    def __init__(self) -> None:
        super().__init__()
        self.loop = asyncio.new_event_loop()
        # A busy machine plans its first statements slowly; that is not what is tested here.
        self.graph = Graph.open(self.settings).with_limit(60)
        self.tenants: list[str] = []

    def new_tenant(self) -> str:
        self.tenants.append(f"test-{new_id()}")
        return self.tenants[-1]

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        return self.loop.run_until_complete(work)

    def teardown(self) -> None:
        self.run(clear(self.graph, self.tenants))
        self.run(self.graph.close())
        self.loop.close()


async def run_machine(
    machine: type[Machine], settings: Settings, *, examples: int, steps: int = 25
) -> None:
    """The short form is the same each time; each further round goes another way."""
    machine.settings = settings
    await asyncio.to_thread(
        run_state_machine_as_test,
        machine,
        settings=hypothesis_settings(
            max_examples=examples * ROUNDS,
            stateful_step_count=steps,
            deadline=None,
            derandomize=ROUNDS == 1,
            # Shrinking takes longer on a real database than reading the steps that failed.
            phases=[Phase.explicit, Phase.reuse, Phase.generate],
            suppress_health_check=list(HealthCheck),
        ),
    )
