import re
from pathlib import Path

import pytest
from pydantic import ValidationError

from engine.settings import Settings

EXAMPLE = Path(__file__).parents[2] / ".env.example"


def test_the_example_names_every_setting_with_its_default() -> None:
    named = dict(re.findall(r"^#? ?PENTIMENTO_(\w+)=(\S*)", EXAMPLE.read_text(), re.M))
    defaults = Settings(_env_file=None).model_dump(mode="json")

    assert {name.lower() for name in named} == set(defaults)
    for name, value in defaults.items():
        secret = "secret" in str(Settings.model_fields[name].annotation).lower()
        assert named[name.upper()] == ("" if value is None or secret else str(value)), name


def test_settings_come_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PENTIMENTO_API_PORT", "9999")

    assert Settings(_env_file=None).api_port == 9999


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("neo4j_patience", 60),
        ("consolidate_at", "25:00"),
        ("clock", "broken"),
        ("api_port", -1),
        ("full_text_analyzer", "keyword"),
    ],
)
def test_a_setting_out_of_range_is_refused_at_start(name: str, value: object) -> None:
    with pytest.raises(ValidationError):
        Settings(_env_file=None, **{name: value})  # type: ignore[arg-type]


def test_secrets_do_not_show() -> None:
    settings = Settings(_env_file=None, neo4j_password="hush")

    assert "hush" not in repr(settings)
