"""Graph analysts: the saved queries answer, and Neo4j Browser can load the style and the guide."""

import asyncio
import contextlib
import html
import json
import re
import threading
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest

import cypher
from engine.forgetting.acknowledgments import Templates
from engine.forgetting.flags import flag_message
from engine.store.graph import Graph
from ops.browser_guide import FOLDER, GUIDE, QUERIES, STYLE, browser_url, guide_page, guide_server
from ops.ports import free_port
from tests.chromium import needs_chromium, rendered
from tests.lives import BORN, FIRST_NIGHT, RULES, Life
from tests.servers import Neo4jServer, local_neo4j

pytestmark = pytest.mark.spec("RUN-04")

DAY = timedelta(days=1)
ASKED = "baggage,pragma,sentry-trace"  # headers that Browser sends along


async def pasted(graph: Graph, name: str, **parameters: Any) -> list[Any]:
    """The rows of a statement as an analyst runs it: the file as it is, nodes and all."""
    async with graph._driver.session(database=graph._database) as session:
        result = await session.run(cypher.statement(name), parameters)
        return [record async for record in result]


async def of_ada(life: Life, name: str) -> list[Any]:
    return await pasted(life.graph, name, tenant_id=life.tenant_id, persona_id="ada", limit=20)


async def forget(life: Life, message_id: str) -> None:
    await flag_message(
        life.graph, Templates(), life.caller, message_id, RULES, now=FIRST_NIGHT + DAY
    )


async def test_what_has_ada_lost(life: Life) -> None:
    told, _ = await life.say("I kissed Leo behind the bookshop.", "The tram was late again today.")
    await life.night()
    await forget(life, told)
    assert [row["how"] for row in await of_ada(life, "analyst/what_was_lost")] == [
        "forgotten on request"
    ]
    for days in range(30, 160, 10):
        await life.night(FIRST_NIGHT + days * DAY)

    rows = await of_ada(life, "analyst/what_was_lost")

    by_text = {row["text"]: row for row in rows}
    tram = by_text["Sam: The tram was late again today."]
    assert tram["how"] == "faded"
    assert "ForgottenShape" in tram["shape"].labels
    kissed = by_text["Sam: I kissed Leo behind the bookshop."]
    assert kissed["how"] == "forgotten on request, then archived"
    assert kissed["memory"]["state"] == "archived"
    assert kissed["shape"] is None  # what was forgotten on request leaves none


async def test_what_did_last_night_do(life: Life) -> None:
    await life.say("I live in Lisbon.", "My cat sleeps on the warm router.")
    await life.night(FIRST_NIGHT - DAY)  # too early for both
    await life.night()

    rows = await of_ada(life, "analyst/last_night")

    assert {row["night"] for row in rows} == {"2026-05-03"}
    integrated = next(row for row in rows if row["stage"] == "integrate")
    assert json.loads(integrated["did"])["formed"] == 3
    assert set(integrated["texts"]) == {memory.text for memory in await life.memories()}
    assert "Sam lives in Lisbon." in integrated["texts"]
    assert [row["step"]["place"] for row in rows] == sorted(row["step"]["place"] for row in rows)


async def test_where_a_memory_came_from(life: Life) -> None:
    first, again = await life.say("I live in Lisbon.", "As I said, I live in Lisbon.")
    await life.night()
    (lisbon,) = [it for it in await life.memories() if it.text == "Sam lives in Lisbon."]
    await forget(life, again)

    (row,) = await pasted(
        life.graph, "analyst/where_from", tenant_id=life.tenant_id, memory_id=lisbon.memory_id
    )

    assert row["text"] == "Sam lives in Lisbon."
    assert row["said"][0] == "2026-05-01 Sam: I live in Lisbon."
    nodes = {node["id"] for path in row["paths"] for node in path.nodes}
    assert {lisbon.memory_id, first, again, "monday"} <= nodes
    assert any("Flag" in node.labels for path in row["paths"] for node in path.nodes)


async def test_what_is_fading_next(life: Life) -> None:
    await life.say("The tram was late again today.")
    await life.say("My cat sleeps on the warm router.", at=BORN + 5 * DAY)
    await life.night(FIRST_NIGHT + 10 * DAY)

    soon = await of_ada(life, "analyst/fading_next")
    await life.night(FIRST_NIGHT + 45 * DAY)
    later = await of_ada(life, "analyst/fading_next")
    await life.night(FIRST_NIGHT + 131 * DAY)
    last = await of_ada(life, "analyst/fading_next")

    assert {row["then"] for row in soon} == {"loses importance"}
    assert [row["at"] for row in soon] == sorted(row["at"] for row in soon)
    assert soon[0]["at"] < later[0]["at"]
    assert soon[0]["importance"] == 5 > later[0]["importance"]
    told = [row for row in last if "ForgottenShape" not in row["memory"].labels]
    assert {row["then"] for row in told} <= {"is archived"}
    assert len(told) < len(last)  # a shape fades as well, and has just begun


def test_the_style_has_a_caption_for_every_node_and_knows_shapes() -> None:
    style = (FOLDER / STYLE).read_text()
    rules = dict(re.findall(r"^(node(?:\.\w+)?) \{(.*?)^\}", style, re.M | re.S))

    assert all(re.search(r'caption: "\{\w+\}";', rule) for rule in rules.values())
    assert rules["node.ForgottenShape"] != rules["node.Memory"]
    # Of two labels of a node, the one that stands later decides.
    assert list(rules).index("node.ForgottenShape") > list(rules).index("node.Memory")


def test_the_guide_has_every_query_as_it_can_be_run() -> None:
    page = guide_page("http://localhost:1", "demo", "o'hara")
    code = [
        html.unescape(text)
        for text in re.findall(r"<pre class='code runnable'>(.*?)</pre>", page, re.S)
    ]

    assert page.count("<slide>") == page.count("</slide>") == len(QUERIES) + 2
    assert "What has o&#x27;hara lost?" in page
    assert ":style http://localhost:1/pentimento.grass" in code
    assert r":param persona_id => 'o\'hara'" in code
    assert {cypher.statement(name).strip() for name in QUERIES.values()} <= set(code)
    needed = {
        name
        for query in QUERIES.values()
        for name in re.findall(r"\$(\w+)", cypher.statement(query))
    }
    assert {text.split()[1] for text in code if text.startswith(":param")} == needed
    assert not re.findall(r"(?:src|href)=", page)  # nothing from anywhere else


@pytest.fixture
def served() -> Iterator[str]:
    """The address of a guide that is being served."""
    server = guide_server(port := free_port(), "demo", "ada")
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://localhost:{port}"
    server.shutdown()
    thread.join()
    server.server_close()


def test_browser_may_fetch_the_guide_and_the_style_from_another_port(served: str) -> None:
    asked = httpx.options(f"{served}/{GUIDE}", headers={"Access-Control-Request-Headers": ASKED})
    page, style = httpx.get(f"{served}/{GUIDE}"), httpx.get(f"{served}/{STYLE}")

    assert asked.status_code == 204
    assert asked.headers["access-control-allow-headers"] == "*"
    for answer in (asked, page, style):
        assert answer.headers["access-control-allow-origin"] == "*"
    assert f":style {served}/{STYLE}" in page.text
    assert style.text == (FOLDER / STYLE).read_text()
    assert httpx.get(f"{served}/../pyproject.toml").status_code == 404


async def test_neo4j_allows_browser_to_fetch_from_this_machine(graph: Graph) -> None:
    """Browser asks the server for its settings; without one it allows these two hosts."""
    async with graph._driver.session(database=graph._database) as session:
        result = await session.run("CALL dbms.clientConfig()")
        settings = {record["name"]: record["value"] async for record in result}
    allowed = settings.get("browser.remote_content_hostname_whitelist")

    assert "localhost" in (allowed or "guides.neo4j.com, localhost")


@needs_chromium
async def test_browser_opens_with_the_guide(
    served: str, neo4j_server: Neo4jServer, tmp_path: Path
) -> None:
    with contextlib.ExitStack() as stack:
        if neo4j_server.browser_url is None:  # one that was given may be anywhere
            neo4j_server = stack.enter_context(local_neo4j(tmp_path))
        url = browser_url(str(neo4j_server.browser_url), int(served.rpartition(":")[2]))
        shown = await asyncio.to_thread(rendered, url, tmp_path)

    assert "A memory that forgets well" in shown
