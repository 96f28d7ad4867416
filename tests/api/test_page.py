"""The page to read the API by: served whole by the API itself, from files that are pinned."""

import asyncio
import hashlib
import json
import re
from pathlib import Path

import httpx

from api.page import FOLDER
from engine.settings import Settings
from tests.chromium import needs_chromium, rendered
from tests.servers import local_api


async def test_the_page_and_its_files_are_served_without_a_key(
    stranger: httpx.AsyncClient,
) -> None:
    page = await stranger.get("/schema")
    files = re.findall(r'(?:src|href)="(/[^"]+)"', page.text)

    assert page.headers["content-type"].startswith("text/html")
    assert len(files) == 3
    for path in files:
        served = await stranger.get(path)
        assert served.status_code == 200
        assert served.content == (FOLDER / "assets" / Path(path).name).read_bytes()
        assert served.headers["content-type"].startswith(("text/css", "text/javascript"))
    assert "/schema/openapi.json" in (FOLDER / "assets" / "page.js").read_text()


async def test_the_page_names_no_other_host(stranger: httpx.AsyncClient) -> None:
    page = (await stranger.get("/schema")).text
    own_files = page + (FOLDER / "assets" / "page.js").read_text()
    style = (FOLDER / "assets" / "swagger-ui.css").read_text()

    assert "default-src 'self'" in page
    assert not re.findall(r"(?:https?:)?//[a-z0-9-]+\.", own_files)
    assert not re.findall(r"@import|url\(\s*[\"']?(?:https?:)?//", style)


def test_every_vendored_file_is_the_one_of_the_manifest() -> None:
    manifest = json.loads((FOLDER / "vendor.json").read_text())
    checksums = {
        file.name: hashlib.sha256(file.read_bytes()).hexdigest()
        for file in (FOLDER / "assets").iterdir()
        if file.name != "page.js"
    }

    assert checksums == manifest["sha256"]
    assert manifest["license"] == "Apache-2.0"
    assert re.fullmatch(r"\d+\.\d+\.\d+", manifest["version"])


@needs_chromium
async def test_a_browser_that_reaches_no_other_host_shows_every_operation(
    settings: Settings, tmp_path: Path, stranger: httpx.AsyncClient
) -> None:
    document = (await stranger.get("/schema/openapi.json")).json()

    with local_api(settings, tmp_path) as address:
        shown = await asyncio.to_thread(rendered, f"{address}/schema", tmp_path)

    operations = [item for path in document["paths"].values() for item in path.values()]
    assert len(operations) >= 64
    assert shown.count('class="opblock-summary-path"') == len(operations)
    assert all(operation["summary"] in shown for operation in operations)
