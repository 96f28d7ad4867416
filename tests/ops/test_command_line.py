"""Arguments of the command that need no server."""

from datetime import UTC, datetime

import pytest
from typer import Exit
from typer.testing import CliRunner

from ops.cli import app, parse_moment

NOW = datetime(2026, 11, 18, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", NOW),
        ("+2d", datetime(2026, 11, 20, 12, tzinfo=UTC)),
        ("+36h", datetime(2026, 11, 20, 0, tzinfo=UTC)),
        ("+90m", datetime(2026, 11, 18, 13, 30, tzinfo=UTC)),
        ("2027-01-01T03:00:00Z", datetime(2027, 1, 1, 3, tzinfo=UTC)),
        ("2027-01-01T03:00:00", datetime(2027, 1, 1, 3, tzinfo=UTC)),
    ],
)
def test_a_time_is_relative_or_absolute(text: str, expected: datetime) -> None:
    assert parse_moment(text)(NOW) == expected


@pytest.mark.parametrize("text", ["soon", "+2", "2d", "+2w", "+-1d", "+999999d"])
def test_another_text_is_no_time(text: str) -> None:
    with pytest.raises(Exit):
        parse_moment(text)


@pytest.mark.parametrize(
    "command",
    [
        "up",
        "down",
        "status",
        "env",
        "doctor",
        "install",
        "migrate",
        "night",
        "demo",
        "simulate",
        "browser",
        "tenant add",
    ],
)
def test_every_command_explains_itself(command: str) -> None:
    result = CliRunner().invoke(app, [*command.split(), "--help"])

    assert result.exit_code == 0
    assert "Usage" in result.output
    if command == "night":
        assert "+2d" in result.output
