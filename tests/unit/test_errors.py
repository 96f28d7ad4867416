import re

from api.errors import STATUS
from engine import errors
from engine.errors import EngineError


def every_error(kind: type[EngineError] = EngineError) -> list[type[EngineError]]:
    return [kind, *(below for sub in kind.__subclasses__() for below in every_error(sub))]


def test_the_tree_at_the_top_names_every_error_and_no_other() -> None:
    drawn = re.findall(r"^[│├└─ ]*(\w+)", errors.__doc__ or "", re.M)

    assert set(drawn) - {"Every"} == {kind.__name__ for kind in every_error()}


def test_every_error_has_one_status() -> None:
    for kind in every_error()[1:]:
        assert any(above in STATUS for above in kind.__mro__), kind
