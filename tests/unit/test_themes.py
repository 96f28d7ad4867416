from engine.night.themes import listed, shared_terms


def test_what_most_texts_share_names_the_theme() -> None:
    texts = [
        "We glazed our bowls in the pottery class today.",
        "Pottery class again: my glaze ran down the bowl.",
        "I love the pottery class, the teacher showed us glazing.",
    ]

    assert set(shared_terms(texts)) == {"class", "pottery", "glaze"} or shared_terms(texts)[:2] == [
        "class",
        "pottery",
    ]


def test_texts_that_share_only_empty_words_have_no_theme() -> None:
    texts = ["I really went out today.", "Today I got a new one.", "It was good, I went today."]

    assert shared_terms(texts) == []


def test_terms_are_told_as_in_a_sentence() -> None:
    assert listed(["pottery"]) == "pottery"
    assert listed(["pottery", "glaze"]) == "pottery and glaze"
    assert listed(["pottery", "glaze", "kiln"]) == "pottery, glaze and kiln"
