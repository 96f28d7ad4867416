"""What is read in a question, by language: the words that ask, who is meant, and times.

English is in the code of `questions.py`; every other language is a file in this folder. A time is
put into English, so that one reader understands all of them.
"""

import re
from calendar import day_name, month_name
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import msgspec
from msgspec import Struct

from engine.text import FIRST_PERSON, QUESTION_WORDS, SECOND_PERSON, language_of, word_set

MONTH = "|".join(month_name[1:])


class QuestionEntry(Struct, frozen=True, forbid_unknown_fields=True):
    """A language as its data file has it."""

    language: str
    question_words: str
    first_person: str
    second_person: str
    months: tuple[str, ...]  # January first; patterns
    weekdays: tuple[str, ...]  # Monday first; patterns
    times: list[tuple[str, str]]  # pattern and replacement, after months and weekdays


@dataclass(frozen=True, slots=True)
class QuestionLanguage:
    """What a question in one language is read by."""

    question_words: frozenset[str]  # that ask, rather than say what is asked for
    first_person: frozenset[str]
    second_person: frozenset[str]
    replacements: tuple[tuple[re.Pattern[str], str], ...] = ()

    def times_in_english(self, text: str) -> str:
        """The text with its times in English words; the rest stays as it is."""
        for pattern, replacement in self.replacements:
            text = pattern.sub(replacement, text)
        return text


ENGLISH_QUESTIONS = QuestionLanguage(QUESTION_WORDS, FIRST_PERSON, SECOND_PERSON)


@cache
def question_languages() -> dict[str, QuestionLanguage]:
    """Every language that has a file, by name."""
    entries = [
        msgspec.toml.decode(file.read_bytes(), type=QuestionEntry)
        for file in sorted(Path(__file__).parent.glob("*.toml"))
    ]
    return {
        entry.language: QuestionLanguage(
            word_set(entry.question_words),
            word_set(entry.first_person),
            word_set(entry.second_person),
            tuple(
                (re.compile(pattern.replace("{MONTH}", MONTH), re.IGNORECASE), replacement)
                for pattern, replacement in replacements_of(entry)
            ),
        )
        for entry in entries
    }


def replacements_of(entry: QuestionEntry) -> list[tuple[str, str]]:
    """What is replaced in a text, in this order: months, weekdays, then the times of the file."""
    months = zip(entry.months, month_name[1:], strict=True)
    weekdays = zip(entry.weekdays, day_name, strict=True)
    names = [(rf"\b(?:{pattern})\b", english) for pattern, english in (*months, *weekdays)]
    return [*names, *entry.times]


def question_language(asked: str) -> QuestionLanguage:
    """The language of a question; English when it has no file."""
    return question_languages().get(language_of(asked), ENGLISH_QUESTIONS)
