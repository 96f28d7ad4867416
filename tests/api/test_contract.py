"""The OpenAPI document against the running service: what it says is what happens."""

from collections.abc import AsyncIterator, Iterator
from datetime import UTC, datetime
from typing import Any

import httpx
import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, assume
from hypothesis import settings as hypothesis_settings
from schemathesis.specs.openapi.checks import positive_data_acceptance

from api.app import create_app
from engine.access.keys import issue_key
from engine.access.models import Role
from engine.access.tenants import add_tenant
from engine.ids import new_id
from engine.service.clock import MovableClock
from engine.settings import Settings
from engine.store.graph import Graph
from ops.servers import wait_until
from tests.conftest import clear
from tests.servers import answers, local_api, local_worker

NOT_ASKED = [
    # A cursor or a time zone can be well formed and still not exist.
    positive_data_acceptance,
]


@pytest.fixture(scope="module")
def address(settings: Settings, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("contract")
    with local_worker(settings, folder) as worker, local_api(settings, folder) as url:
        wait_until(lambda: answers(f"{url}/api/ready"), worker, folder / "api.log")
        yield url


@pytest.fixture(scope="module")
async def clock(graph: Graph) -> AsyncIterator[MovableClock]:
    """One for all tests here, since the contract moves it about."""
    clock = MovableClock(graph)
    yield clock
    await clock.move(None)


@pytest.fixture(scope="module")
async def api_key(graph: Graph) -> AsyncIterator[str]:
    now, tenant_id = datetime.now(UTC), f"test-{new_id()}"
    await add_tenant(graph, tenant_id, name="Contract", now=now)
    yield (await issue_key(graph, tenant_id, name="used", role=Role.ADMIN, now=now)).api_key
    await clear(graph, [tenant_id])


# Tests are made from the document before any server runs; opening the app connects to nothing.
app = create_app(Settings(_env_file=None, neo4j_uri="bolt://127.0.0.1:9", clock="movable"))
# A stream of events has no end to wait for; it has tests of its own.
schema = schemathesis.openapi.from_dict(app.openapi_schema.to_schema()).exclude(
    operation_id="listen_to_events"
)


def test_the_document_is_the_one_that_is_served(address: str) -> None:
    assert httpx.get(f"{address}/schema/openapi.json").json() == app.openapi_schema.to_schema()


@schema.parametrize()
@hypothesis_settings(
    max_examples=20,
    deadline=None,
    derandomize=True,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=list(HealthCheck),
)
def test_every_answer_is_one_the_document_names(
    case: Any, address: str, api_key: str, clock: MovableClock
) -> None:
    """No 5xx, no status, type or body that is not in the document, no bad input taken as good."""
    # As everywhere on the web: of a parameter that is given twice the last one counts, and one
    # that a route does not know is passed over.
    query = case.query or {}
    known = {
        "limit",
        "cursor",
        "instance_id",
        "state",
        "type",
        "category",
        "as_of",
        "preview",
        "persona_id",
        "q",
        "sort",
    }
    known |= {"format", "exclude_flagged", "first_message_id", "last_message_id"}
    assume(query.keys() <= known)
    assume(not any(isinstance(value, list | dict) for value in query.values()))
    case.call_and_validate(
        base_url=address,
        headers={"Authorization": f"Bearer {api_key}"},
        timeout=20,
        excluded_checks=NOT_ASKED,
    )
