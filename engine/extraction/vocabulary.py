"""Words and pattern fragments of each language, read from the data files in `languages/`.

A file declares its `language`; all files of one language are read together, in the order of their
names. Patterns refer to a list, a table or a fragment as {NAME}.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from engine.errors import Misconfigured

LANGUAGES = Path(__file__).parent / "languages"
REFERENCE = re.compile(r"\{([A-Z_]+)\}")
LINE_START = re.compile(r"(?:\A|\n)[ \t]*")


class FirstPersonEntry(Struct, frozen=True, forbid_unknown_fields=True):
    """A word of the speaker for themself, and what stands for it elsewhere."""

    pattern: str
    in_value: str
    in_sentence: str


class SubjectEntry(Struct, frozen=True, forbid_unknown_fields=True):
    """Words at the start of a clause that say who it is about."""

    pattern: str
    who: str
    tables: dict[str, str] = {}


class Grammar(Struct, frozen=True, forbid_unknown_fields=True):
    """How the sentences of a language are taken apart before rules are tried."""

    not_stated: list[str]
    quotation: str
    expansions: list[tuple[str, str]]
    clause_break: str
    lead_in: str
    verb_forms: list[tuple[str, str]]
    first_person: list[FirstPersonEntry]
    subjects: list[SubjectEntry]
    not_instructed: list[str] = []
    request: str = ""
    instruction_break: str = ""
    applies_when: list[str] = []
    applies_in: list[str] = []


class LanguageFile(Struct, frozen=True, forbid_unknown_fields=True):
    """One data file. Its rules are checked one by one, so that an error can name the rule."""

    language: str
    words: dict[str, list[str]] = {}
    tables: dict[str, dict[str, list[str]]] = {}
    fragments: dict[str, str] = {}
    grammar: Grammar | None = None
    rules: list[dict[str, Any]] = []


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """What patterns of one language may refer to."""

    language: str
    lists: Mapping[str, tuple[str, ...]]
    tables: Mapping[str, Mapping[str, str]]  # by name: what people say, and the word kept for it
    fragments: Mapping[str, str]

    def expand(self, pattern: str) -> str:
        """The pattern on one line, with every {NAME} replaced by what it stands for."""
        return REFERENCE.sub(
            lambda reference: self._meaning(reference[1]), LINE_START.sub("", pattern)
        )

    def compile(self, pattern: str, flags: int = 0) -> re.Pattern[str]:
        """The expanded pattern, compiled. An unknown {NAME} raises ValueError."""
        return re.compile(self.expand(pattern), flags)

    def words(self, *names: str) -> frozenset[str]:
        """The single words of some lists, to be looked up."""
        return frozenset(
            word for name in names for entry in self.lists[name] for word in entry.split()
        )

    def _meaning(self, name: str) -> str:
        """The pattern that {NAME} stands for."""
        if name in self.lists:
            return f"(?:{'|'.join(self.lists[name])})"
        if name in self.tables:
            longest_first = sorted(self.tables[name], key=len, reverse=True)
            return f"(?:{'|'.join(map(re.escape, longest_first))})"
        if name in self.fragments:
            return self.expand(self.fragments[name])
        raise ValueError(f"{{{name}}} is no list, table or fragment of {self.language}")


@cache
def language_files(folder: Path = LANGUAGES) -> dict[str, LanguageFile]:
    """The data files of a folder, by file name, in the order of their names."""
    files = {}
    for path in sorted(folder.glob("*.toml")):
        try:
            files[path.name] = msgspec.toml.decode(path.read_bytes(), type=LanguageFile)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise Misconfigured(f"{path.name}: {error}.") from error
    return files


@cache
def vocabulary(language: str, folder: Path = LANGUAGES) -> Vocabulary:
    """The words and fragments of one language. Two of one name are refused."""
    lists: dict[str, tuple[str, ...]] = {}
    tables: dict[str, dict[str, str]] = {}
    fragments: dict[str, str] = {}
    names: set[str] = set()
    for file_name, file in language_files(folder).items():
        if file.language != language:
            continue
        for name in (*file.words, *file.tables, *file.fragments):
            if not REFERENCE.fullmatch(f"{{{name}}}"):
                raise Misconfigured(f"{file_name}: {name!r} must be capitals and underscores.")
            if name in names:
                raise Misconfigured(f"{file_name}: {name} is defined twice.")
            names.add(name)
        lists |= {name: tuple(words) for name, words in file.words.items()}
        tables |= {name: by_said_word(table) for name, table in file.tables.items()}
        fragments |= file.fragments
    return Vocabulary(language, lists, tables, fragments)


def by_said_word(table: dict[str, list[str]]) -> dict[str, str]:
    """A table as it is looked up: the word kept for each word that people say."""
    return {said: kept for kept, said_words in table.items() for said in said_words}
