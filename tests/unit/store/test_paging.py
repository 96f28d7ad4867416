import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.errors import Invalid
from engine.store.paging import decode_id, make_page


@given(st.lists(st.text(min_size=1), unique=True).map(sorted), st.integers(1, 5))
def test_pages_put_together_are_the_whole_listing(ids: list[str], limit: int) -> None:
    seen: list[str] = []
    cursor = None
    while True:
        rest = [id_ for id_ in ids if id_ > decode_id(cursor)]
        part = make_page(rest[: limit + 1], limit, str)
        seen += part.items
        cursor = part.next_cursor
        if cursor is None:
            break

    assert seen == ids


@pytest.mark.parametrize("made_up", ["%%%", "a", "/w==", "\u00e9"])
def test_a_cursor_that_no_listing_gave_out_is_refused(made_up: str) -> None:
    with pytest.raises(Invalid):
        decode_id(made_up)
