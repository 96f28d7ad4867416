"""A conversation as a file."""

import json
from datetime import timedelta
from typing import Any

import httpx
import pytest

from engine.access.models import Role
from engine.talk import exports
from engine.talk.conversations import record_messages
from engine.talk.models import Message, Speaker
from tests.api.conftest import NewCaller
from tests.api.forgetting.test_flags import DAY, HOUR, ago, chat, forget, take_back
from tests.lives import Life

__all__ = ["chat"]

NOTE = {"flags_of_others": "not shown"}  # to members: admins and staff see all flags
PLACEHOLDER = "[prior exchange deprioritized by user]"


async def export(client: httpx.AsyncClient, **query: Any) -> httpx.Response:
    answer = await client.get("/api/conversations/monday/export", params=query)
    assert answer.status_code == 200, answer.text
    assert PLACEHOLDER not in answer.text
    return answer


def lines(answer: httpx.Response) -> list[dict[str, Any]]:
    return [json.loads(line) for line in answer.text.splitlines()]


async def test_lines_hold_every_message_with_its_flag_or_say_how_many_were_left_out(
    life: Life, chat: httpx.AsyncClient
) -> None:
    said = await life.say("red house", "green tree", "blue gate", "black cat", at=ago(3 * DAY))
    for message_id in said[1:]:
        await forget(chat, message_id)
    await take_back(chat, said[3])
    listed = (await chat.get("/api/conversations/monday/messages")).json()["items"]

    whole = await export(chat)
    some = await export(chat, exclude_flagged=True)

    assert lines(whole) == [*listed, NOTE]
    assert lines(some) == [listed[0], listed[3], {"excluded": 2}]
    assert whole.headers["content-type"] == "application/x-ndjson"
    assert whole.headers["content-disposition"] == 'attachment; filename="monday.jsonl"'


async def test_a_transcript_is_readable_and_says_what_is_not_remembered(
    life: Life, chat: httpx.AsyncClient
) -> None:
    said = await life.say("I live in Lisbon.", "# Not a heading\n\nat all", at=ago(HOUR))
    answer = Message(
        message_id="answer",
        conversation_id="monday",
        persona_id="ada",
        role=Speaker.PERSONA,
        content="I see.",
        timestamp=ago(HOUR / 2),
    )
    await record_messages(life.graph, life.caller, "monday", [answer], now=ago(HOUR / 2))
    await forget(chat, said[1])
    when = [ago(HOUR), ago(HOUR - timedelta(minutes=1)), ago(HOUR / 2)]

    whole = await export(chat, format="markdown")
    some = await export(chat, format="markdown", exclude_flagged="true")

    one, two, three = (f"{day:%Y-%m-%d}" for day in when)
    lines = [line for line in whole.text.split("\n") if line]
    assert lines[0] == "# Monday"
    assert lines[1].startswith(f"**Sam** · {one}")
    assert lines[1].endswith(" UTC")
    assert lines[2] == "> I live in Lisbon."
    assert lines[3].startswith(f"**Sam** · {two}")
    assert lines[3].endswith(" UTC · *not remembered*")
    assert lines[4:7] == ["> # Not a heading", ">", "> at all"]
    assert lines[7].startswith(f"**Ada** · {three}")
    assert lines[8:] == ["> I see.", "*What others have flagged is not marked.*"]
    assert whole.headers["content-type"] == "text/markdown; charset=utf-8"
    assert whole.headers["content-disposition"] == 'attachment; filename="monday.md"'
    kept = [line for line in some.text.split("\n") if line]
    assert kept == [*lines[:3], *lines[7:9], "*Left out: 1 message that is not remembered.*"]


async def test_a_part_goes_from_one_message_to_another_in_pages(
    life: Life, chat: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = await life.say(*(f"story number {place}" for place in range(12)), at=ago(HOUR))
    monkeypatch.setattr(exports, "BATCH_SIZE", 3)

    async def ids(**query: Any) -> list[str]:
        *messages, note = lines(await export(chat, **query))
        assert note == NOTE
        return [message["message_id"] for message in messages]

    assert await ids() == said
    assert await ids(first_message_id=said[2]) == said[2:]
    assert await ids(last_message_id=said[8]) == said[:9]
    assert await ids(first_message_id=said[2], last_message_id=said[7]) == said[2:8]
    assert await ids(first_message_id=said[7], last_message_id=said[2]) == said[2:8]


async def test_a_conversation_in_which_nothing_was_said_is_an_empty_file(
    life: Life, chat: httpx.AsyncClient, new_caller: NewCaller
) -> None:
    analyst = await new_caller(life.tenant_id, Role.ANALYST)

    assert lines(await export(chat)) == [NOTE]
    assert (await export(analyst)).text == ""
    assert lines(await export(chat, exclude_flagged=True)) == [{"excluded": 0}]
    assert (await export(analyst, format="markdown")).text == "# Monday\n"


async def test_only_what_one_may_see_can_be_exported(
    life: Life, chat: httpx.AsyncClient, new_caller: NewCaller
) -> None:
    await life.say("red house", at=ago(HOUR))
    outsider = await new_caller(life.tenant_id, Role.USER, "mia")
    analyst = await new_caller(life.tenant_id, Role.ANALYST)
    where = "/api/conversations/monday/export"

    assert (await outsider.get(where)).status_code == 404
    assert (await analyst.get(where)).status_code == 200
    assert (await chat.get(where, params={"first_message_id": "nothing"})).status_code == 404
    assert (await chat.get(where, params={"format": "pdf"})).status_code == 400
    assert (await chat.get(where, params={"exclude_flagged": "perhaps"})).status_code == 400


async def test_an_export_holds_one_page_at_a_time(
    life: Life, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The next page is asked for when the one before was taken, and not earlier."""
    await life.say(*(f"story number {place}" for place in range(9)), at=ago(HOUR))
    monkeypatch.setattr(exports, "BATCH_SIZE", 2)
    asked: list[int] = []
    read = life.graph.read

    async def counted(name: str, /, **parameters: Any) -> Any:
        asked.extend([parameters["limit"]] if name == "talk/exports/list_exported_messages" else [])
        return await read(name, **parameters)

    monkeypatch.setattr(life.graph, "read", counted)
    pieces = await exports.export_conversation(
        life.graph,
        life.caller,
        "monday",
        format=exports.ExportFormat.JSONL,
        exclude_flagged=False,
        first_id=None,
        last_id=None,
    )
    taken = [(len(piece.splitlines()), len(asked)) async for piece in pieces]

    assert taken == [(0, 0), (2, 1), (2, 2), (2, 3), (2, 4), (1, 5)]
    assert set(asked) == {3}
