import pytest

from engine.text.languages import language_of, stem_of, text_languages
from engine.text.themes import WordForms


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("I live in Lisbon and I love it.", "english"),
        ("ok thanks", "english"),
        ("Me too!", "english"),
        ("Tell me about the den.", "english"),
        ("Ich wohne in Lissabon und mag das Licht.", "german"),
        ("Was war letzte Woche los?", "german"),
        ("Vivo en Lisboa y me gusta la luz.", "spanish"),
        ("¿Dónde vivo?", "spanish"),
        ("Je vis à Lisbonne et j'aime beaucoup cette ville.", ""),
        ("リスボンに住んでいます。", ""),
        ("أسكن في لشبونة.", ""),
        ("", ""),
    ],
)
def test_a_text_is_in_the_language_whose_words_it_has(text: str, language: str) -> None:
    assert language_of(text) == language


def test_words_are_stemmed_by_their_language() -> None:
    assert stem_of("katzen", "german") == stem_of("katze", "german")
    assert stem_of("gatos", "spanish") == stem_of("gato", "spanish")
    assert list(text_languages()) == ["english", "german", "spanish"]


def test_stop_words_of_a_language_name_no_theme() -> None:
    reading = WordForms.of("Wir haben zwei Katzen und einen Hund, aber nicht sehr viel Platz.")

    assert {form for forms in reading.forms.values() for form in forms} == {
        "zwei",
        "Katzen",
        "Hund",
        "Platz",
    }
