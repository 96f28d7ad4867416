"""Text as people type it: cleaned of what no store can hold, and cut into sentences."""

import re
import unicodedata


def word_set(text: str) -> frozenset[str]:
    """Words that are looked up, written as they are read."""
    return frozenset(text.split())


UNPRINTABLE = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b\u2060\ufeff\ufffe\uffff\ud800-\udfff]"
)
# The signs that stand on or around a letter: the vowels of Hindi and Thai are such.
MARKS = "".join(
    letter for letter in map(chr, range(0x300, 0x20000)) if unicodedata.category(letter)[0] == "M"
)
SPACES = re.compile(r"[^\S\n]+")
A_MARK = frozenset(MARKS)
WORD = re.compile(r"[^\W_]+(?:['\u2019-][^\W_]+)*")
NOT_WORD = re.compile(r"[\W_]+")
# The same where a text has such signs, which is twenty times slower.
MARKED_WORD = re.compile(rf"[\w{MARKS}]+(?:['\u2019-][\w{MARKS}]+)*")
NOT_MARKED_WORD = re.compile(rf"[^\w{MARKS}]+")
CURLY = str.maketrans(
    dict.fromkeys("\u2018\u2019\u201a\u201b\u2032", "'")
    | dict.fromkeys("\u201c\u201d\u201e\u201f\u2033", '"')
    | {"\u2013": "-", "\u2014": " - ", "\u2026": "..."}
)

# A sentence ends at its marks, or at an emoji when a capital follows. Dots inside numbers and names
# (3.5, e.g., example.org) have no space after them.
# Possessive, so that a long run of marks is walked once.
END = re.compile(
    r"(?<![.!?\u2026])[.!?\u2026]++[\"'\u201d\u2019)\]]*+(?=\s|$)|[\u3002\uff01\uff1f\u0964\u061f]+|\n+"
    r"|[\U0001f000-\U0001faff\u2600-\u27bf]\ufe0f?(?=\s+[A-Z])"
)
ABBREVIATION = re.compile(
    r"(?:^|[\s(])(?:Mr|Mrs|Ms|Dr|St|Prof|Jr|Sr|vs|etc|e\.g|i\.e|[A-HJ-Z]|[apm])\.$"
)

# Words that English has and its neighbours hardly do, so that "die", "in" or "was" prove nothing.
ENGLISH = word_set(
    "the and is are of to my your you it it's that that's this with for not have has had been "
    "will would i i'm i've i'll i'd don't can't we they he she his her their our but what when "
    "how there because about just really so from at be do did does got get going went am me all "
    "up out"
)
ENGLISH_SHARE = 0.15


def clean_text(text: str) -> str:
    """The text without control characters, lone surrogates and runs of spaces."""
    lines = SPACES.sub(" ", UNPRINTABLE.sub("", text)).split("\n")
    return "\n".join(line for line in map(str.strip, lines) if line)


def straighten_quotes(text: str) -> str:
    """Curly quotes and long dashes as the keyboard has them."""
    return text.translate(CURLY)


def sentences(text: str) -> list[str]:
    """The sentences of a text, in order, with their marks."""
    found, start = [], 0
    for end in END.finditer(text):
        # The ten characters before the mark are enough to see an abbreviation.
        if ABBREVIATION.search(text[max(start, end.end() - 10) : end.end()]):
            continue
        found.append(text[start : end.end()].strip())
        start = end.end()
    found.append(text[start:].strip())
    return [sentence for sentence in found if sentence]


def has_marks(text: str) -> bool:
    return not text.isascii() and not A_MARK.isdisjoint(text)


def words(text: str) -> list[str]:
    if has_marks(text):
        return MARKED_WORD.findall(text.replace("_", " "))
    return WORD.findall(text)


def fingerprint(text: str) -> str:
    """The same for two texts that differ in case, marks, spaces or Unicode form only."""
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    if has_marks(folded):
        return NOT_MARKED_WORD.sub(" ", folded.replace("_", " ")).strip()
    return NOT_WORD.sub(" ", folded).strip()


def is_english(text: str) -> bool:
    """Whether the rules, which know English only, may speak about this text."""
    found = [word.lower() for word in words(straighten_quotes(text))]
    if not found:
        return False
    if len(found) < 4:
        return text.isascii() or any(word in ENGLISH for word in found)
    return sum(word in ENGLISH for word in found) >= ENGLISH_SHARE * len(found)
