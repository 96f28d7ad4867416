import json
import logging

import pytest
import structlog

from engine.service.logs import set_up_logs
from engine.settings import Settings


@pytest.fixture(autouse=True)
def quiet_afterwards() -> object:
    yield
    structlog.reset_defaults()
    logging.getLogger().handlers = []


def test_an_error_is_logged_with_its_place_and_without_its_words(
    capsys: pytest.CaptureFixture[str],
) -> None:
    set_up_logs(Settings(_env_file=None))

    try:
        raise ValueError("my diary says I love broccoli")
    except ValueError:
        structlog.get_logger("test").error("failed", exc_info=True)
        logging.getLogger("a.library").exception("also failed")

    written = capsys.readouterr().err
    ours, theirs = map(json.loads, written.splitlines())
    assert "broccoli" not in written
    assert ours["error"] == theirs["error"] == "ValueError"
    assert "test_logs.py" in ours["where"][-1]
