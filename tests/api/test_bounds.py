"""Bounds at the door: what is refused leaves nothing, what is taken can be stored and recalled."""

import base64
import json
from typing import Any

import httpx
import pytest

from engine import bounds
from engine.access.models import Role
from tests.api.conftest import NewCaller
from tests.api.dumps import dump
from tests.api.talk.test_conversations import said

SCRIPTS = {
    "latin": "k",
    "cyrillic": "ж",
    "cjk": "漢",
    "thai": "ก",
    "hindi": "क",
    "arabic": "ع",
    "emoji": "😀",
    "zwj": "👩‍🚀",
    "combining": "é",
    "expands": "ﷺ",  # one character that becomes eighteen when it is normalised
}


def text_of(script: str, characters: int) -> str:
    unit = SCRIPTS[script]
    return (unit * (characters // len(unit) + 1))[:characters]


def cursor_of(text: str) -> str:
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


@pytest.fixture
async def ada(admin: httpx.AsyncClient) -> str:
    """A persona in a conversation in the studio; its messages' address."""
    await admin.post("/api/personas", json={"id": "ada", "name": "Ada"})
    await admin.post("/api/instances", json={"id": "studio", "name": "Studio"})
    body = {"id": "monday", "instance_id": "studio", "persona_ids": ["ada"]}
    assert (await admin.post("/api/conversations", json=body)).status_code == 201
    return "/api/conversations/monday/messages"


ITEMS = ("candidates", "memories")
TOO_MUCH: list[dict[str, Any]] = [
    {"kind": "k" * 40_000},
    {"category": "k" * (bounds.CATEGORY + 1)},
    {"kind": "😀" * (bounds.CATEGORY + 1)},
    {"subject": "s" * (bounds.SUBJECT + 1)},
    {"who": "漢" * (bounds.SUBJECT + 1)},
    {"attribute": "a" * (bounds.ATTRIBUTE + 1), "subject": "Sam", "value": "x"},
    {"valence": True},
    {"valence": False},
    {"valence": 1.5},
    {"valence": 10**30},
    {"valence": "sad"},
    {"arousal": -0.5},
    {"any": 2**63},
    {"text": "x" * bounds.CONTENT_BYTES},
    {"text": "x" * 3_900_000},
]


@pytest.mark.parametrize("kind", ITEMS)
@pytest.mark.parametrize("content", TOO_MUCH, ids=lambda content: json.dumps(content)[:24])
async def test_content_beyond_its_bounds_is_refused_and_leaves_nothing(
    admin: httpx.AsyncClient, tenant_id: str, graph: Any, ada: str, kind: str, content: Any
) -> None:
    before = await dump(graph, tenant_id)
    body = {"memory_type": "semantic", "text": "Sam lives in Lisbon.", "content": content}

    refused = await admin.post(f"/api/personas/ada/{kind}", json=body)

    assert refused.status_code == 400, refused.text[:200]
    assert refused.json()["errors"][0]["field"] == "content"
    assert await dump(graph, tenant_id) == before


@pytest.mark.parametrize("script", SCRIPTS)
@pytest.mark.parametrize("kind", ITEMS)
async def test_content_at_its_bounds_is_stored_and_recalled(
    admin: httpx.AsyncClient, ada: str, kind: str, script: str
) -> None:
    """Every value that reaches an index, as long as it may be, in characters of up to 4 bytes."""
    content = {
        "subject": text_of(script, bounds.SUBJECT),
        "attribute": text_of(script, bounds.ATTRIBUTE),
        "value": text_of(script, 1000),
        "category": text_of(script, bounds.CATEGORY),
        "valence": -1,
        "arousal": 1,
    }
    text = text_of(script, bounds.ITEM_TEXT)
    body: dict[str, Any] = {"memory_type": "semantic", "text": text, "content": content}
    if kind == "memories":
        body["tags"] = [f"{n:02}{text_of(script, bounds.TAG - 2)}" for n in range(bounds.TAGS)]
        body["project"] = text_of(script, bounds.PROJECT)

    kept = await admin.post(f"/api/personas/ada/{kind}", json=body)

    assert kept.status_code == 201, kept.text[:300]
    assert kept.json()["content"] == content
    question = {"query": "lives", "categories": [content["category"]], "counts": False}
    recalled = await admin.post("/api/personas/ada/recall", json=question)
    assert recalled.status_code == 200, recalled.text[:300]
    assert [hit["text"] for hit in recalled.json()["hits"]] == [text]


async def test_content_nested_too_deep_is_refused(admin: httpx.AsyncClient, ada: str) -> None:
    for depth in (bounds.CONTENT_DEPTH, 900, 1_500, 100_000):
        nested = '{"a":' * depth + "1" + "}" * depth
        body = f'{{"memory_type": "semantic", "text": "Sam.", "content": {nested}}}'
        refused = await admin.post("/api/personas/ada/candidates", content=body)
        assert refused.status_code == 400, (depth, refused.text)
    elsewhere = await admin.post("/api/personas", content="[" * 100_000)
    assert elsewhere.status_code == 400


@pytest.mark.parametrize(
    "body",
    [
        '{"name": "Ada", "name": "Eve"}',
        '{"id": "eve", "name": "Eve", "id": "ada"}',
        '{"name": "A\\u0000da"}',
        '{"name": "\\ud800"}',
        '{"id": "eve\\n", "name": "Eve"}',
    ],
)
async def test_a_body_that_reads_two_ways_is_refused(admin: httpx.AsyncClient, body: str) -> None:
    refused = await admin.post("/api/personas", content=body)

    assert refused.status_code == 400, refused.text
    assert (await admin.get("/api/personas")).json()["items"] == []


async def test_a_doubled_key_deep_inside_is_refused(admin: httpx.AsyncClient, ada: str) -> None:
    body = '{"memory_type": "semantic", "text": "x", "content": {"a": [{"b": 1, "b": 2}]}}'

    refused = await admin.post("/api/personas/ada/memories", content=body)

    assert refused.status_code == 400
    assert refused.json()["errors"] == [{"field": "b", "message": "Object has this field twice"}]


async def test_an_escaped_backslash_is_no_nul(admin: httpx.AsyncClient) -> None:
    kept = await admin.post("/api/personas", json={"name": "A \\u0000 in the text of a program"})

    assert kept.status_code == 201


async def test_ids_that_end_in_a_newline_are_refused(admin: httpx.AsyncClient, ada: str) -> None:
    put = await admin.put("/api/instances/studio/members/sam%0A", json={})
    as_user = await admin.get("/api/personas", headers={"X-User-Id": "sam%0A"})
    in_list = await admin.post(
        "/api/conversations", json={"instance_id": "studio", "persona_ids": ["ada\n"]}
    )
    in_path = await admin.get("/api/personas/ada%0A")

    assert [put.status_code, as_user.status_code, in_list.status_code] == [400, 400, 400]
    assert in_path.status_code == 404
    assert (await admin.get("/api/instances/studio/members")).json()["items"] == []


async def test_long_and_numeric_cursors_are_refused(admin: httpx.AsyncClient, ada: str) -> None:
    items = await admin.get("/api/items", params={"cursor": cursor_of(f'[1{"0" * 370}, "x"]')})
    recall = await admin.post(
        "/api/personas/ada/recall", json={"query": "Where?", "cursor": cursor_of("9" * 5_000)}
    )

    assert items.status_code == 400
    assert recall.status_code == 400


@pytest.mark.parametrize("made_up", ["a,b,c", "FB:", "FB:x", "FB:kcwQ", "x" * 5000, "FB:é"])
async def test_a_bookmark_nobody_gave_is_refused_at_once(
    admin: httpx.AsyncClient, made_up: str
) -> None:
    refused = await admin.get("/api/personas", headers={b"X-Bookmark": made_up.encode()})

    assert refused.status_code == 400, refused.text
    assert "ookmark" in refused.json()["detail"]


@pytest.mark.parametrize("script", SCRIPTS)
async def test_a_message_as_long_as_it_may_be_is_recorded(
    admin: httpx.AsyncClient, ada: str, script: str
) -> None:
    content = text_of(script, bounds.MESSAGE)
    message = said(1, content, speaker=text_of(script, bounds.SPEAKER), user_id="u" * bounds.ID)

    kept = await admin.post(ada, json={"messages": [message]})
    again = await admin.post(ada, json={"messages": [message]})

    assert [kept.status_code, again.status_code] == [201, 201], kept.text[:300]
    listed = (await admin.get(ada)).json()["items"]
    assert [item["content"] for item in listed] == [content]


async def test_filters_of_a_recall_are_bounded(admin: httpx.AsyncClient, ada: str) -> None:
    for wrong in (
        {"categories": ["k" * (bounds.CATEGORY + 1)]},
        {"tags": ["k" * (bounds.TAG + 1)]},
        {"project": "k" * (bounds.PROJECT + 1)},
        {"types": ["semantic"] * 11},
        {"asked_by": "k" * (bounds.SPEAKER + 1)},
    ):
        refused = await admin.post("/api/personas/ada/recall", json={"query": "Where?", **wrong})
        assert refused.status_code == 400, wrong


async def test_another_instances_conversation_cannot_be_opened(
    admin: httpx.AsyncClient, new_caller: NewCaller, graph: Any, tenant_id: str, ada: str
) -> None:
    await admin.post("/api/instances", json={"id": "attic", "name": "Attic"})
    await admin.put("/api/instances/attic/members/kim", json={})
    kim = await new_caller(tenant_id, Role.USER, "kim")
    before = await dump(graph, tenant_id)
    body = {"id": "monday", "instance_id": "attic", "persona_ids": ["ada"]}

    taken = await kim.post("/api/conversations", json=body)

    assert taken.status_code == 409
    assert await dump(graph, tenant_id) == before
    assert (await kim.get("/api/conversations/monday/messages")).status_code == 404


async def test_anothers_candidate_cannot_be_proposed_again(
    admin: httpx.AsyncClient, graph: Any, tenant_id: str, ada: str
) -> None:
    await admin.post("/api/personas", json={"id": "eve", "name": "Eve"})
    await admin.post(ada, json={"messages": [said(1)]})
    body = {"candidate_id": "c1", "memory_type": "semantic", "text": "Sam lives in Lisbon."}
    first = await admin.post("/api/personas/ada/candidates", json=body)
    before = await dump(graph, tenant_id)

    of_eve = await admin.post("/api/personas/eve/candidates", json=body)
    other = await admin.post("/api/personas/ada/candidates", json={**body, "text": "No."})
    more = await admin.post(
        "/api/personas/ada/candidates", json={**body, "source_message_ids": ["m1"]}
    )
    again = await admin.post("/api/personas/ada/candidates", json=body)

    assert [answer.status_code for answer in (of_eve, other, more)] == [409, 409, 409]
    assert again.json() == first.json()
    assert await dump(graph, tenant_id) == before


async def test_nobody_speaks_under_the_name_of_another(
    admin: httpx.AsyncClient, new_caller: NewCaller, graph: Any, tenant_id: str, ada: str
) -> None:
    for user_id in ("sam", "kim", "u3"):
        await admin.put(f"/api/instances/studio/members/{user_id}", json={})
    sam, kim, third = [
        await new_caller(tenant_id, Role.USER, user) for user in ("sam", "kim", "u3")
    ]
    runtime_for_kim = await new_caller(tenant_id, Role.RUNTIME, "kim")

    async def say(
        who: httpx.AsyncClient, number: int, speaker: str | None, **more: str
    ) -> httpx.Response:
        message = said(number, **({"speaker": speaker} if speaker else {}), **more)
        return await who.post(ada, json={"messages": [message]})

    assert (await say(sam, 1, "Sam")).status_code == 201
    assert (await say(kim, 2, "Kim")).status_code == 201
    before = await dump(graph, tenant_id)
    refused = [
        await say(kim, 3, "Sam"),  # another user's name
        await say(kim, 3, " sAM!"),  # however it is spelled
        await say(kim, 3, "Kimberly"),  # they have a name already
        await say(third, 3, "Ada"),  # a persona's name
        await say(third, 3, "kim"),  # another user's id
        await say(runtime_for_kim, 3, "Sam"),  # acting for Kim
        await say(runtime_for_kim, 3, "Sam", user_id="sam"),
        await say(sam, 3, "Sam", user_id="kim"),
    ]
    assert [answer.status_code for answer in refused] == [403] * 8, [
        answer.text for answer in refused
    ]
    assert await dump(graph, tenant_id) == before

    assert (await say(sam, 4, "SAM")).status_code == 201
    assert (await say(sam, 5, None)).status_code == 201
    assert (await say(runtime_for_kim, 6, "Kim")).status_code == 201


async def test_two_users_of_two_instances_may_have_one_name_and_the_backend_renames(
    admin: httpx.AsyncClient, new_caller: NewCaller, tenant_id: str, ada: str
) -> None:
    await admin.post("/api/instances", json={"id": "attic", "name": "Attic"})
    body = {"id": "tuesday", "instance_id": "attic", "persona_ids": ["ada"]}
    await admin.post("/api/conversations", json=body)
    await admin.put("/api/instances/studio/members/sam", json={})
    await admin.put("/api/instances/attic/members/sam2", json={})
    sam = await new_caller(tenant_id, Role.USER, "sam")
    other = await new_caller(tenant_id, Role.USER, "sam2")
    attic = "/api/conversations/tuesday/messages"

    here = await sam.post(ada, json={"messages": [said(1, speaker="Sam")]})
    there = await other.post(attic, json={"messages": [said(2, speaker="Sam")]})
    renamed = await admin.post(ada, json={"messages": [said(3, speaker="Samira", user_id="sam")]})
    as_before = await sam.post(ada, json={"messages": [said(4, speaker="Sam")]})
    as_now = await sam.post(ada, json={"messages": [said(5, speaker="Samira")]})

    assert [answer.status_code for answer in (here, there, renamed)] == [201, 201, 201]
    assert as_before.status_code == 403
    assert "Samira" in as_before.json()["detail"]
    assert as_now.status_code == 201


async def test_a_wrong_method_says_which_are_right(admin: httpx.AsyncClient, ada: str) -> None:
    refused = await admin.put("/api/personas", json={})

    assert refused.status_code == 405
    assert refused.headers["Allow"] == "GET, OPTIONS, POST"


async def test_a_refusal_names_a_role_as_people_write_it(
    new_caller: NewCaller, tenant_id: str
) -> None:
    analyst = await new_caller(tenant_id, Role.ANALYST)

    refused = await analyst.post("/api/personas", json={"name": "Ada"})

    assert refused.status_code == 403
    assert "'analyst'" in refused.json()["detail"]
    assert "<" not in refused.json()["detail"]


async def test_the_document_names_the_headers_that_routes_take(
    stranger: httpx.AsyncClient,
) -> None:
    document = (await stranger.get("/schema/openapi.json")).json()

    for path, item in document["paths"].items():
        for operation in item.values():
            named = {
                parameter["name"]
                for parameter in operation["parameters"]
                if parameter["in"] == "header"
            }
            wanted = {"X-User-Id", "X-Bookmark", "X-Request-Id"}
            if path in ("/api/health", "/api/ready"):
                wanted = {"X-Request-Id"}
            assert wanted <= named, (path, named)
