"""Recalls: what recalling a memory brought up, recorded once, counted once, and shown to few."""

import asyncio
import json
from datetime import timedelta
from typing import Any

import httpx
import pytest

from api.app import create_app
from engine import bounds
from engine.access.models import Role
from engine.forgetting.acknowledgments import Templates
from engine.forgetting.flags import flag_message
from engine.memory.memories import archive_memory
from engine.models import MemoryType
from engine.night.undo import undo_run
from engine.policy.policy import Figures, salience_after
from engine.service.clock import MovableClock
from engine.settings import Settings
from tests.api.conftest import NewCaller, a_client
from tests.api.dumps import dump
from tests.api.test_bounds import SCRIPTS, cursor_of, text_of
from tests.curves import salience_used
from tests.lives import BORN, FIRST_NIGHT, RULES, Life

DAY = timedelta(days=1)
SMILED = {
    "recall_id": "smiled",
    "response": "It made me smile.",
    "valence": "Bittersweet",
    "surfaced_by": "hydration",
}


@pytest.fixture
async def admin(life: Life, new_caller: NewCaller) -> httpx.AsyncClient:
    return await new_caller(life.tenant_id)


@pytest.fixture
async def river(life: Life) -> str:
    """The id of a memory."""
    (kept,) = await life.remember("a walk by the river")
    return kept


def recalls_of(memory_id: str) -> str:
    return f"/api/memories/{memory_id}/recalls"


async def record(client: httpx.AsyncClient, memory_id: str, **changes: Any) -> dict[str, Any]:
    answer = await client.post(recalls_of(memory_id), json={**SMILED, **changes})
    assert answer.status_code == 201, answer.text
    recall: dict[str, Any] = answer.json()
    return recall


async def listed(client: httpx.AsyncClient, memory_id: str) -> list[dict[str, Any]]:
    answer = await client.get(recalls_of(memory_id))
    assert answer.status_code == 200, answer.text
    items: list[dict[str, Any]] = answer.json()["items"]
    return items


async def memory_of(client: httpx.AsyncClient, memory_id: str) -> dict[str, Any]:
    memory: dict[str, Any] = (await client.get(f"/api/memories/{memory_id}")).json()
    return memory


async def a_shape(life: Life, *sources: str) -> str:
    """The id of the shape that a night draws of these memories, which are archived for it."""
    for source in sources:
        await archive_memory(life.graph, life.caller, source, now=FIRST_NIGHT + DAY)
    await life.night(FIRST_NIGHT + 2 * DAY)
    (row,) = await life.ask("MATCH (shape:ForgottenShape {tenant_id: $t}) RETURN shape.id AS id")
    return str(row["id"])


@pytest.mark.spec("SHAPE-08")
@pytest.mark.parametrize("valence", ["Positive", "Negative", "Neutral", "Complex", "Bittersweet"])
async def test_a_recall_is_recorded_and_listed(
    admin: httpx.AsyncClient, river: str, valence: str
) -> None:
    recorded = await record(admin, river, valence=valence)

    assert {**recorded, **SMILED, "valence": valence} == recorded
    assert (recorded["memory_id"], recorded["persona_id"]) == (river, "ada")
    assert recorded["by"].startswith("key:")
    assert await listed(admin, river) == [recorded]


@pytest.mark.spec("SHAPE-08")
@pytest.mark.parametrize("memory_type", ["episodic", "semantic", "somatic", "forgotten_shape"])
async def test_a_memory_of_any_type_can_be_recalled(
    life: Life, admin: httpx.AsyncClient, memory_type: str
) -> None:
    if memory_type == MemoryType.FORGOTTEN_SHAPE:
        body = {"shape_id": "it", "connected_themes": "boats", "felt_absence": "They are gone."}
        made = await admin.post("/api/personas/ada/shapes", json=body)
    else:
        new = {"memory_id": "it", "memory_type": memory_type, "text": "Sam is glad."}
        made = await admin.post("/api/personas/ada/memories", json=new)
    assert made.status_code == 201, made.text

    recorded = await record(admin, "it")

    assert await listed(admin, "it") == [recorded]
    assert (await memory_of(admin, "it"))["access_count"] == 1


@pytest.mark.spec("SHAPE-08")
async def test_a_recall_counts_one_use_of_its_memory_however_often_it_is_sent(
    life: Life, admin: httpx.AsyncClient, river: str, clock: MovableClock
) -> None:
    await clock.move(FIRST_NIGHT + timedelta(hours=1))
    first = await record(admin, river)
    before = await dump(life.graph, life.tenant_id)

    again = await record(admin, river)

    assert again == first
    assert await dump(life.graph, life.tenant_id) == before
    (row,) = await life.ask(
        "MATCH (m:Memory {tenant_id: $t}) RETURN m.salience AS salience, m.access_count AS accesses"
    )
    figures = Figures()
    assert row["accesses"] == 1
    expected = salience_used(salience_after(0.5, 1 / 24, figures), 0, figures)
    assert row["salience"] == pytest.approx(expected, abs=1e-5)


@pytest.mark.spec("SHAPE-08")
async def test_the_same_recall_sent_many_times_at_once_counts_once(
    life: Life, admin: httpx.AsyncClient, river: str
) -> None:
    answers = await asyncio.gather(*(record(admin, river) for _ in range(6)))

    assert all(answer == answers[0] for answer in answers)
    assert len(await listed(admin, river)) == 1
    assert (await memory_of(admin, river))["access_count"] == 1


async def test_different_recalls_at_once_all_count(
    life: Life, admin: httpx.AsyncClient, river: str
) -> None:
    await asyncio.gather(*(record(admin, river, recall_id=f"r{n}") for n in range(6)))

    assert len(await listed(admin, river)) == 6
    assert (await memory_of(admin, river))["access_count"] == 6


@pytest.mark.spec("SHAPE-07", "SHAPE-08")
async def test_a_recall_keeps_its_memory_from_being_archived(
    life: Life, admin: httpx.AsyncClient, clock: MovableClock
) -> None:
    recalled, other = await life.remember("a walk by the river", "buying new boots")
    now = FIRST_NIGHT
    for number in range(8):
        now += 25 * DAY
        await clock.move(now)
        await record(admin, recalled, recall_id=f"r{number}")
        await life.night(now)

    states = [(await memory_of(admin, id_))["state"] for id_ in (recalled, other)]

    assert states == ["active", "archived"]


async def test_a_recall_of_an_archived_memory_counts_and_does_not_bring_it_back(
    life: Life, admin: httpx.AsyncClient, river: str
) -> None:
    await archive_memory(life.graph, life.caller, river, now=FIRST_NIGHT + DAY)

    recorded = await record(admin, river)

    memory = await memory_of(admin, river)
    assert (memory["state"], memory["access_count"]) == ("archived", 1)
    assert await listed(admin, river) == [recorded]


async def test_a_withdrawn_shape_is_not_recalled_and_what_was_said_of_it_is_gone(
    life: Life, admin: httpx.AsyncClient, clock: MovableClock
) -> None:
    """A response may name what the shape spoke of, and that was taken back."""
    messages = await life.say("I walked by the river.")
    one, two = [
        await life.propose(text, sources=sources)
        for text, sources in (("a walk by the river", messages), ("buying new boots", []))
    ]
    await life.night()
    shape_id = await a_shape(life, one, two)
    await clock.move(FIRST_NIGHT + 3 * DAY)
    await record(admin, shape_id)

    await flag_message(
        life.graph, Templates(), life.caller, messages[0], rules=RULES, now=FIRST_NIGHT + 3 * DAY
    )
    withdrawn = await listed(admin, shape_id)
    refused = await admin.post(recalls_of(shape_id), json={**SMILED, "recall_id": "again"})
    await life.night(FIRST_NIGHT + 4 * DAY)

    assert (await memory_of(admin, shape_id))["state"] == "active"
    assert withdrawn == []
    assert refused.status_code == 409
    assert "withdrawn" in refused.json()["detail"]
    assert [(it["recall_id"], it["response"]) for it in await listed(admin, shape_id)] == [
        ("smiled", "")
    ]


async def test_undoing_the_night_that_made_a_memory_takes_its_recalls_along(
    life: Life, admin: httpx.AsyncClient
) -> None:
    kept = await life.propose("a walk by the river")
    night = await life.night()
    await record(admin, kept)

    await undo_run(life.graph, life.tenant_id, night.id, now=FIRST_NIGHT + DAY, undone_by="test")

    assert await life.ask("MATCH (recall:Recall {tenant_id: $t}) RETURN recall.id") == []
    assert (await admin.get(recalls_of(kept))).status_code == 404


async def test_undoing_the_night_that_drew_a_shape_takes_its_recalls_along(
    life: Life, admin: httpx.AsyncClient
) -> None:
    shape_id = await a_shape(life, *await life.remember("a walk by the river"))
    await record(admin, shape_id)
    (run,) = await life.ask(
        "MATCH (r:Run {tenant_id: $t}) RETURN r.id AS id ORDER BY r.as_of DESC LIMIT 1"
    )

    await undo_run(
        life.graph, life.tenant_id, run["id"], now=FIRST_NIGHT + 3 * DAY, undone_by="test"
    )

    assert await life.ask("MATCH (recall:Recall {tenant_id: $t}) RETURN recall.id") == []


@pytest.mark.spec("NAV-07")
async def test_a_duplicate_has_none_of_the_recalls(
    life: Life, admin: httpx.AsyncClient, river: str
) -> None:
    await record(admin, river)

    copied = await admin.post("/api/personas/ada/duplicate", json={"id": "eve"})
    (memory,) = (await admin.get("/api/personas/eve/memories")).json()["items"]

    assert copied.status_code == 201
    assert memory["access_count"] == 0
    assert await listed(admin, memory["memory_id"]) == []
    assert len(await listed(admin, river)) == 1


@pytest.mark.spec("SEC-06")
async def test_a_response_is_in_no_log_no_audit_and_no_history(
    life: Life,
    admin: httpx.AsyncClient,
    river: str,
    settings: Settings,
    capsys: pytest.CaptureFixture[str],
) -> None:
    noisy = create_app(settings.model_copy(update={"log_level": "debug"}))
    key = admin.headers["Authorization"].removeprefix("Bearer ")
    async with noisy.lifespan(), a_client(noisy, key) as client:
        await record(client, river, response="broccoli", surfaced_by="broccoli soup")
        await client.post(recalls_of(river), json={**SMILED, "response": "broccoli " * 9_000})
        await client.post(recalls_of(river), json={**SMILED, "response": "other broccoli"})
        audit = await client.get("/api/audit", params={"action": "recalled"})
        history = await client.get(f"/api/memories/{river}/history")
        metrics = await client.get("/metrics")

    (event,) = audit.json()["items"]
    assert json.loads(event["after"]) == {"recall_id": "smiled"}
    assert "recalled" in [event["action"] for event in history.json()]
    written = capsys.readouterr()
    for place in (audit.text, history.text, metrics.text, written.err, written.out):
        assert "broccoli" not in place


async def test_an_id_that_another_recall_has_is_refused(
    life: Life, admin: httpx.AsyncClient
) -> None:
    one, other = await life.remember("a walk by the river", "buying new boots")
    await record(admin, one)
    before = await dump(life.graph, life.tenant_id)

    answers = [
        await admin.post(recalls_of(one), json={**SMILED, "response": "It made me sad."}),
        await admin.post(recalls_of(one), json={**SMILED, "valence": "Negative"}),
        await admin.post(recalls_of(one), json={**SMILED, "surfaced_by": "search"}),
        await admin.post(recalls_of(other), json=SMILED),
    ]

    assert [answer.status_code for answer in answers] == [409] * 4
    assert all("smile" not in answer.text.replace("'smiled'", "") for answer in answers)
    assert await dump(life.graph, life.tenant_id) == before


@pytest.mark.spec("SEC-05")
@pytest.mark.parametrize(
    "wrong",
    [
        {"response": ""},
        {"response": "x" * (bounds.RESPONSE + 1)},
        {"response": None},
        {"valence": "Joyful"},
        {"valence": "positive"},
        {"surfaced_by": ""},
        {"surfaced_by": "x" * (bounds.SURFACED_BY + 1)},
        {"recall_id": "not an id"},
        {"memory_id": "another"},
    ],
    ids=lambda wrong: str(wrong)[:24],
)
async def test_a_recall_beyond_its_bounds_is_refused_and_leaves_nothing(
    life: Life, admin: httpx.AsyncClient, river: str, wrong: dict[str, Any]
) -> None:
    before = await dump(life.graph, life.tenant_id)

    refused = await admin.post(recalls_of(river), json={**SMILED, **wrong})

    assert refused.status_code == 400, refused.text
    assert await dump(life.graph, life.tenant_id) == before


@pytest.mark.spec("SEC-05")
async def test_a_recall_at_its_bounds_is_recorded(admin: httpx.AsyncClient, river: str) -> None:
    for script in SCRIPTS:
        response = text_of(script, bounds.RESPONSE)
        surfaced_by = text_of(script, bounds.SURFACED_BY)
        recorded = await record(
            admin, river, recall_id=script, response=response, surfaced_by=surfaced_by
        )
        assert (recorded["response"], recorded["surfaced_by"]) == (response, surfaced_by)


async def test_pages_are_in_the_order_in_which_recalls_were_recorded(
    life: Life, admin: httpx.AsyncClient, river: str
) -> None:
    for number in range(7):
        await record(admin, river, recall_id=f"r{number}")
    await life.ask(  # two and two at the same time
        """
        MATCH (recall:Recall {tenant_id: $t})
        SET recall.recalled_at =
          $first + duration({days: toInteger(substring(recall.id, 1)) / 2})""",
        first=BORN,
    )

    seen, cursor = [], None
    while True:
        params = {"limit": 2, **({"cursor": cursor} if cursor else {})}
        page = (await admin.get(recalls_of(river), params=params)).json()
        seen += [recall["recall_id"] for recall in page["items"]]
        if not (cursor := page["next_cursor"]):
            break

    assert seen == [f"r{number}" for number in range(7)]
    bad = await admin.get(recalls_of(river), params={"cursor": cursor_of("no time|r1")})
    assert bad.status_code == 400


@pytest.mark.spec("SEC-01")
async def test_recalls_are_for_staff_and_for_a_user_only_their_own(
    life: Life, admin: httpx.AsyncClient, new_caller: NewCaller
) -> None:
    """A persona may say of one person's memory what it heard from another."""
    for user_id in ("sam", "lee"):
        await admin.put(f"/api/instances/studio/members/{user_id}", json={})
    messages = await life.say("I walked by the river.")
    shared = await life.propose("a walk by the river", sources=messages)
    own = await life.propose("something of no message")
    await life.night()
    analyst = await new_caller(life.tenant_id, Role.ANALYST)
    person = await new_caller(life.tenant_id, Role.USER, "sam")
    for_sam, for_lee, for_kim = [
        await new_caller(life.tenant_id, Role.RUNTIME, user) for user in ("sam", "lee", "kim")
    ]
    await record(admin, shared, recall_id="of-staff")
    await record(for_sam, shared, recall_id="of-sam")
    before = await dump(life.graph, life.tenant_id)

    async def ids(client: httpx.AsyncClient) -> list[str]:
        return [recall["recall_id"] for recall in await listed(client, shared)]

    assert await ids(admin) == await ids(analyst) == ["of-staff", "of-sam"]
    assert await ids(for_sam) == ["of-sam"]
    assert await ids(for_lee) == []
    assert (await person.get(recalls_of(shared))).status_code == 403
    for client, memory_id in ((for_kim, shared), (for_sam, own), (admin, "absent")):
        assert (await client.get(recalls_of(memory_id))).status_code == 404
        refused = await client.post(recalls_of(memory_id), json={**SMILED, "recall_id": "no"})
        assert refused.status_code == 404
    for client in (person, analyst):
        assert (await client.post(recalls_of(shared), json=SMILED)).status_code == 403
    assert await dump(life.graph, life.tenant_id) == before


@pytest.mark.spec("SEC-01")
async def test_another_tenants_recalls_are_as_if_they_were_not(
    life: Life, admin: httpx.AsyncClient, river: str, new_tenant: Any, new_caller: NewCaller
) -> None:
    await record(admin, river)
    stranger = await new_caller(await new_tenant())
    before = await dump(life.graph, life.tenant_id)

    answers = [
        await stranger.get(recalls_of(river)),
        await stranger.post(recalls_of(river), json=SMILED),
    ]

    assert [answer.status_code for answer in answers] == [404, 404]
    assert await dump(life.graph, life.tenant_id) == before
