"""What a question says about the talk and the answer, rather than about its topic.

"Can you list the order in which I brought up different boats? Name only five items." is about
boats; embedded whole, it is near to everything that was ever listed. The rules are data:
`frames.toml`, in English. A question that none of them fits stays as it is, to the question mark.
"""

import re
import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

MAX_CHARACTERS = 1000  # of a question; some paste pages of text, and those have no frame
SPACE_BEFORE_MARK = re.compile(r"\s+([,.?!])")


@dataclass(frozen=True, slots=True)
class Frame:
    """A question's topic, and what it is after."""

    topic: str
    asks_persona: bool = False  # for what the persona itself said
    looks_back: bool = False  # at what was said or done, rather than for help with something


@dataclass(frozen=True, slots=True)
class FrameRules:
    """The rules of `frames.toml`, compiled."""

    cuts: tuple[re.Pattern[str], ...]
    order: re.Pattern[str]
    order_anywhere: re.Pattern[str]
    order_openings: tuple[re.Pattern[str], ...]
    asks_persona: re.Pattern[str]
    looks_back: re.Pattern[str]


def frame_of(question: str) -> Frame:
    """The frame of a question with straight quotes."""
    if len(question) > MAX_CHARACTERS:
        return Frame(question)
    rules = frame_rules()
    return Frame(
        topic_of(question, rules),
        asks_persona=bool(rules.asks_persona.search(question)),
        looks_back=bool(rules.looks_back.search(question)),
    )


def topic_of(question: str, rules: FrameRules) -> str:
    """The question without its frame; as it is when nothing is cut or nothing would be left."""
    text = question
    for pattern in rules.cuts:
        text = pattern.sub(" ", text)
    if rules.order.search(question):
        text = rules.order_anywhere.sub(" ", text).strip()
        for pattern in rules.order_openings:
            text = pattern.sub("", text)
    if text == question:
        return question
    return SPACE_BEFORE_MARK.sub(r"\1", " ".join(text.split())).strip(" ,.;:") or question


@cache
def frame_rules() -> FrameRules:
    """The rules, read once."""
    data = read_rules()

    def compiled(pattern: str) -> re.Pattern[str]:
        return re.compile(pattern.replace("{TALK}", data["TALK"]), re.IGNORECASE)

    return FrameRules(
        cuts=tuple(compiled(rule["pattern"]) for rule in data["cut"]),
        order=compiled(data["order"]["pattern"]),
        order_anywhere=compiled(data["order"]["anywhere"]),
        order_openings=tuple(compiled(pattern) for pattern in data["order"]["openings"]),
        asks_persona=compiled(data["asks_persona"]["pattern"]),
        looks_back=compiled(data["looks_back"]["pattern"]),
    )


def read_rules() -> dict[str, Any]:
    return tomllib.loads(Path(__file__).with_name("frames.toml").read_text())
