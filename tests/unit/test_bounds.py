from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine import bounds
from engine.bounds import KEY_BYTES, check_content, hashed, indexed
from engine.errors import Invalid
from engine.memory.content import encode_content, index_properties

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
NAMES = ("subject", "who", "attribute", "value", "category", "kind", "valence", "arousal")
LONG = st.text(min_size=1, max_size=4).map(lambda text: text * 9_000)
CONTENT = st.dictionaries(st.sampled_from(NAMES), JSON | LONG, max_size=8)


@given(st.text(max_size=2000), st.text(max_size=2000))
def test_what_an_index_compares_is_bounded_and_as_different_as_the_texts(
    one: str, other: str
) -> None:
    assert len(indexed(one).encode()) <= KEY_BYTES
    assert (indexed(one) == indexed(other)) == (one == other)
    assert len(hashed(one)) == 64


@pytest.mark.parametrize("character", ["k", "ж", "漢", "😀"])
def test_a_text_at_the_bound_is_kept_and_one_beyond_it_is_cut(character: str) -> None:
    size = len(character.encode())
    at, over = character * (KEY_BYTES // size), character * (KEY_BYTES // size + 1)

    assert indexed(at) == at
    assert indexed(over).startswith(character * 50)
    assert len(indexed(over).encode()) <= KEY_BYTES
    assert indexed(over) != indexed(over + character)


@given(CONTENT)
def test_whatever_is_in_it_an_item_can_be_filed(content: dict[str, Any]) -> None:
    found = index_properties(content)

    for name in ("about", "category", "fact"):
        assert found[name] is None or len(found[name].encode()) <= KEY_BYTES
    assert found["valence"] is None or (
        type(found["valence"]) is float and -1 <= found["valence"] <= 1
    )
    assert found["arousal"] is None or (
        type(found["arousal"]) is float and 0 <= found["arousal"] <= 1
    )


@given(CONTENT)
def test_content_that_is_taken_keeps_its_feelings_and_its_category(
    content: dict[str, Any],
) -> None:
    try:
        check_content(content)
    except Invalid:
        return

    found = index_properties(content)
    for name in ("valence", "arousal"):
        assert found[name] == content.get(name)
    category = content.get("category") or content.get("kind")
    if isinstance(category, str):
        assert found["category"] == category
    assert len(encode_content(content)) <= 7 * bounds.CONTENT_BYTES
