"""Any order of saying, flagging, undoing, editing, sleeping and dying: service against model."""

import asyncio
import random
from collections.abc import Callable, Coroutine, Sequence
from datetime import timedelta
from typing import Any, ClassVar

import pytest
from hypothesis import HealthCheck, Phase
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from tests.changes import ChangeWatch
from tests.machines import ROUNDS
from tests.model.conftest import NewWorld
from tests.model.reference import MANAGER, TOAST, Message
from tests.model.world import World

PLACES = {"monday": ["ada"], "round": ["ada", "eve"], "loft": ["eve"]}  # who is spoken to where
MEMBERS = {"monday": ["sam", "kim", "ines"], "round": ["sam", "kim", "ines"], "loft": ["kim"]}
VIEWERS = [None, "sam", "kim", "ines", "otto"]
TEXTS = ["violet harbour sleeping", "quartz lantern flickers", "stolen magpie feathers"]
CITIES = ["Lisbon", "Porto"]
AGES = [timedelta(), timedelta(), timedelta(hours=1), timedelta(hours=30)]  # 30 h: a late arrival

index = st.integers(0, 1000)


class SideBySide(RuleBasedStateMachine):
    """Drives one world. Its rules run in a thread; the calls run on the loop of the test."""

    new_world: ClassVar[Callable[[], Coroutine[Any, Any, World]]]
    loop: ClassVar[asyncio.AbstractEventLoop]

    def __init__(self) -> None:
        super().__init__()
        self.world = self.run(type(self).new_world())
        self.changes = ChangeWatch(self.world.graph, self.world.tenant_id)
        self.steps = 0
        self.made = 0

    def run(self, work: Coroutine[Any, Any, Any]) -> Any:
        return asyncio.run_coroutine_threadsafe(work, self.loop).result()

    def new_id(self, kind: str) -> str:
        """Ids in another order than that in which they are made."""
        self.made += 1
        return f"{kind}{(self.made * 37) % 101:03}-{self.made}"

    def pick(self, chosen: int, among: Sequence[Any]) -> Any:
        return among[chosen % len(among)]

    # ── what there is to choose from ─────────────────────────────────────────────────────────────

    @property
    def messages(self) -> list[Message]:
        return list(self.world.model.messages.values())

    def candidates(self, *states: str) -> list[str]:
        model = self.world.model
        return [
            id_
            for id_, candidate in model.candidates.items()
            if model.candidate_state(candidate) in states
        ]

    def flagged(self) -> list[str]:
        model = self.world.model
        return [flag.message_id for flag in model.flags if flag.stands]

    def flagger(self, message_id: str) -> str:
        flag = self.world.model.standing_flag(message_id)
        assert flag
        return str(flag.flagged_by)

    # ── rules ────────────────────────────────────────────────────────────────────────────────────

    @initialize(where=st.sampled_from(sorted(PLACES)))
    def begin(self, where: str) -> None:
        self.say(where, [0, 1, 0], [0, 0, 2], "user", seconds=0)

    @rule(
        where=st.sampled_from(sorted(PLACES)),
        texts=st.lists(st.integers(0, 4), min_size=1, max_size=4),
        ages=st.lists(st.integers(0, 3), min_size=4, max_size=4),
        role=st.sampled_from(["user", "persona"]),
        seconds=st.integers(0, 1),
    )
    def say(self, where: str, texts: list[int], ages: list[int], role: str, seconds: int) -> None:
        """One post; with `seconds` 0 all that is of one age is of the same moment."""
        said = [*TEXTS, *(f"I live in {city}." for city in CITIES)]
        start = self.world.now.replace(microsecond=0)
        messages = []
        for place, (text, age) in enumerate(zip(texts, ages, strict=False)):
            at = start - AGES[age] + timedelta(seconds=place * seconds)
            if (
                said[text] not in TEXTS
            ):  # of two facts of one moment SPEC does not say which is newer
                at += timedelta(milliseconds=self.made)
            to = self.pick(place, PLACES[where])
            messages.append(Message(self.new_id("m"), where, to, role, said[text], at))
        self.run(self.world.say(*messages))
        for message in messages[:2]:  # not everything yields a candidate
            self.propose_from(message)

    def propose_from(self, message: Message) -> None:
        city = next((city for city in CITIES if city in message.content), None)
        candidate_id = self.new_id("c")
        if city:
            self.run(self.world.propose_fact(candidate_id, city, message.id))
        else:
            self.run(self.world.propose(candidate_id, message.content, message.id))

    @rule(first=index, second=index)
    def propose_from_two(self, first: int, second: int) -> None:
        one = self.pick(first, self.messages)
        others = [message for message in self.messages if message.persona_id == one.persona_id]
        sources = {one.id, self.pick(second, others).id}
        text = f"gathered from {self.made} sources"
        self.run(self.world.propose(self.new_id("c"), text, *sorted(sources)))

    @rule(chosen=index, who=index)
    def forget(self, chosen: int, who: int) -> None:
        message = self.pick(chosen, self.messages)
        members = [*MEMBERS[message.conversation_id], "otto"]  # otto is in the loft's attic only
        self.run(self.world.forget(self.pick(who, members), message.id))

    @rule(chosen=index, length=st.integers(1, 4), who=index, confirmed=st.booleans())
    def forget_range(self, chosen: int, length: int, who: int, confirmed: bool) -> None:
        first = self.pick(chosen, self.messages)
        order = self.world.model.transcript(first.conversation_id)
        start = order.index(first)
        last = order[min(start + length, len(order)) - 1]
        user = self.pick(who, MEMBERS[first.conversation_id])
        self.run(self.world.forget_range(user, first.id, last.id, confirmed=confirmed))

    @precondition(lambda self: self.flagged())
    @rule(chosen=index, toast=st.booleans(), by_admin=st.booleans())
    def undo(self, chosen: int, toast: bool, by_admin: bool) -> None:
        message_id = self.pick(chosen, self.flagged())
        user = None if by_admin else self.flagger(message_id)
        self.run(self.world.undo(user, message_id, TOAST if toast else MANAGER))

    @precondition(lambda self: self.world.model.ranges)
    @rule(chosen=index, toast=st.booleans(), part=st.integers(0, 3))
    def undo_range(self, chosen: int, toast: bool, part: int) -> None:
        range_ = self.pick(chosen, list(self.world.model.ranges.values()))
        members = range_.message_ids[:part] if part else None
        source = TOAST if toast else MANAGER
        work = self.world.undo_range(range_.created_by, range_.range_id, source, members)
        self.run(work)

    @precondition(lambda self: self.candidates("pending", "merged", "removed"))
    @rule(chosen=index, remove=st.booleans())
    def change_candidate(self, chosen: int, remove: bool) -> None:
        candidate_id = self.pick(chosen, self.candidates("pending", "merged", "removed"))
        if remove:
            self.run(self.world.remove(candidate_id))
        else:
            self.run(self.world.edit(candidate_id, f"edited to say {self.made}"))

    @precondition(lambda self: self.candidates("passed_over"))
    @rule(chosen=index)
    def restore_candidate(self, chosen: int) -> None:
        self.run(self.world.restore_candidate(self.pick(chosen, self.candidates("passed_over"))))

    @precondition(lambda self: self.world.model.memories)
    @rule(chosen=index, what=st.sampled_from(["minimize", "restore", "archive", "unarchive"]))
    def turn_memory(self, chosen: int, what: str) -> None:
        memory_id = self.pick(chosen, list(self.world.model.memories))
        if what == "minimize":
            self.run(self.world.minimize(memory_id, 0.5))
        elif what == "restore":
            self.run(self.world.restore_memory(memory_id))
        else:
            self.run(self.world.archive(memory_id, what == "archive"))

    @rule(how_long=st.sampled_from([{"seconds": 3}, {"seconds": 5}, {"minutes": 5}, {"hours": 5}]))
    def wait(self, how_long: dict[str, float]) -> None:
        self.world.wait(**how_long)

    @rule(persona_id=st.sampled_from(["ada", "eve"]), days=st.integers(0, 2))
    def sleep(self, persona_id: str, days: int) -> None:
        self.world.wait(days=days)
        self.run(self.world.sleep(persona_id))

    @rule(persona_id=st.sampled_from(["ada", "eve"]))
    def hour(self, persona_id: str) -> None:
        self.run(self.world.run_hour(persona_id))

    @rule(
        persona_id=st.sampled_from(["ada", "eve"]),
        die_at=st.integers(1, 25),
        after=st.booleans(),
        follow=st.lists(st.sampled_from(["hour", "night"]), max_size=3),
    )
    def crash(self, persona_id: str, die_at: int, after: bool, follow: list[str]) -> None:
        """A night that dies, then hours and nights in any order, then the next night."""
        self.run(self.crashed(persona_id, die_at, after, follow))

    async def crashed(
        self, persona_id: str, die_at: int, after: bool, follow: Sequence[str]
    ) -> None:
        world = self.world
        world.clock.time += timedelta(days=1)
        world.clock.time += world.until_night(persona_id)
        await world.crash(persona_id, die_at, after=after)
        for step in follow:
            world.wait(hours=1)
            if step == "hour":
                await world.run_hour(persona_id)
            else:
                await world.run_night(persona_id)
        await world.sleep(persona_id)

    # ── what must hold ───────────────────────────────────────────────────────────────────────────

    @invariant()
    def what_callers_see_is_what_the_model_says(self) -> None:
        self.steps += 1
        self.run(self.world.check(VIEWERS[self.steps % len(VIEWERS)]))

    @invariant()
    def the_change_log_names_all_that_has_changed(self) -> None:
        self.run(self.changes.check())

    def teardown(self) -> None:
        self.run(self.world.check_all())


@pytest.fixture
async def machine(
    new_world: NewWorld, new_tenant: Callable[[], Coroutine[Any, Any, str]]
) -> type[SideBySide]:
    """The machine over this test's worlds, on the loop that the API lives on."""

    async def make() -> World:
        return await new_world(await new_tenant())

    SideBySide.new_world = staticmethod(make)
    SideBySide.loop = asyncio.get_running_loop()
    return SideBySide


@pytest.mark.timeout(7200)
async def test_service_and_model_agree_after_any_order_of_calls(machine: type[SideBySide]) -> None:
    await asyncio.to_thread(
        run_state_machine_as_test,
        machine,
        settings=hypothesis_settings(
            max_examples=3 * ROUNDS,
            stateful_step_count=20,
            deadline=None,
            phases=[Phase.generate],  # to shrink an example takes an hour on a real database
            derandomize=ROUNDS == 1,
            suppress_health_check=list(HealthCheck),
        ),
    )


WEIGHTS = {
    "say": 4,
    "propose_from_two": 1,
    "forget": 4,
    "forget_range": 3,
    "undo": 2,
    "undo_range": 2,
    "change_candidate": 1,
    "restore_candidate": 2,
    "turn_memory": 2,
    "wait": 3,
    "sleep": 4,
    "hour": 1,
    "crash": 1,
}
STEPS = 40
SEEDS = (2, 4, 11)  # lives in which things are merged, passed over and closed


def draw(step: str, chance: random.Random) -> dict[str, Any]:
    """What one step is called with."""
    numbers = {name: chance.randrange(1000) for name in ("chosen", "who", "first", "second")}
    persona_id = chance.choice(["ada", "eve"])
    drawn: dict[str, dict[str, Any]] = {
        "say": {
            "where": chance.choice(sorted(PLACES)),
            "texts": [chance.randrange(5) for _ in range(chance.randint(1, 4))],
            "ages": [chance.randrange(4) for _ in range(4)],
            "role": chance.choice(["user", "persona"]),
            "seconds": chance.randrange(2),
        },
        "propose_from_two": {name: numbers[name] for name in ("first", "second")},
        "forget": {name: numbers[name] for name in ("chosen", "who")},
        "forget_range": {
            "chosen": numbers["chosen"],
            "length": chance.randint(1, 4),
            "who": numbers["who"],
            "confirmed": chance.random() < 0.8,
        },
        "undo": {
            "chosen": numbers["chosen"],
            "toast": chance.random() < 0.5,
            "by_admin": chance.random() < 0.3,
        },
        "undo_range": {
            "chosen": numbers["chosen"],
            "toast": chance.random() < 0.5,
            "part": chance.randrange(4),
        },
        "change_candidate": {"chosen": numbers["chosen"], "remove": chance.random() < 0.5},
        "restore_candidate": {"chosen": numbers["chosen"]},
        "turn_memory": {
            "chosen": numbers["chosen"],
            "what": chance.choice(["minimize", "restore", "archive", "unarchive"]),
        },
        "wait": {"how_long": chance.choice([{"seconds": 3}, {"seconds": 5}, {"hours": 5}])},
        "sleep": {"persona_id": persona_id, "days": chance.randrange(2)},
        "hour": {"persona_id": persona_id},
        "crash": {
            "persona_id": persona_id,
            "die_at": chance.randint(1, 25),
            "after": chance.random() < 0.5,
            "follow": [chance.choice(["hour", "night"]) for _ in range(chance.randrange(4))],
        },
    }
    return drawn[step]


def walk(machine: SideBySide, seed: int) -> None:
    """Many steps in one life, so that what is said early meets what is flagged late."""
    chance = random.Random(seed)
    machine.begin(where=chance.choice(sorted(PLACES)))
    possible: dict[str, Callable[[], Any]] = {
        "undo": machine.flagged,
        "undo_range": lambda: machine.world.model.ranges,
        "change_candidate": lambda: machine.candidates("pending", "merged", "removed"),
        "restore_candidate": lambda: machine.candidates("passed_over"),
        "turn_memory": lambda: machine.world.model.memories,
    }
    for place in range(STEPS):
        open_ = {it: weight for it, weight in WEIGHTS.items() if possible.get(it, lambda: True)()}
        (step,) = chance.choices(list(open_), list(open_.values()))
        arguments = draw(step, chance)
        print(f"{place:3} {machine.world.now:%d %H:%M:%S} {step} {arguments}")
        getattr(machine, step)(**arguments)
        machine.what_callers_see_is_what_the_model_says()
        machine.the_change_log_names_all_that_has_changed()
    machine.teardown()


@pytest.mark.timeout(900)
@pytest.mark.parametrize("seed", SEEDS if ROUNDS == 1 else range(4 * ROUNDS))
async def test_service_and_model_agree_along_a_walk(machine: type[SideBySide], seed: int) -> None:
    life = await asyncio.to_thread(machine)

    await asyncio.to_thread(walk, life, seed)
