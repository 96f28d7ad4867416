"""Parts of an English clause: where a phrase ends, and whether it says enough by itself."""

import re

from engine.extraction.vocabulary import vocabulary

MAX_VALUE_CHARACTERS = 160  # of a clause after its verb, in which a value is looked for
MAX_VALUE_WORDS = 9
MAX_PLAN_WORDS = 14

ENGLISH = vocabulary("english")

PHRASE_END = re.compile(
    r"[,;:!?()\[\]\"*#~]|\.+$|\s-|\s(?:because|since|but|so|when|whenever|while|which|who|whose|"
    r"although|though|where|until|cause|cuz|that|if|even|especially|except|like (?:this|that|"
    r"these|those)|like|lol|haha|tho|btw|too|as well|anymore|any more|any longer|right now|now|"
    r"nowadays|these days|at the moment|for now|already|currently|lately|recently|again|though|"
    r"either|with all|more than anything|so much|a lot|very much|and (?=(?:I|we|my|it|that|then|"
    r"am|have|was|will|do|they|he|she|you|this|there|so|also|yes|not|want|love|like|hate|always|"
    r"never|just|really|even|got|can|cannot|is|are|has|what|how|can't)\b)|as soon as|as long as|"
    r"as (?=(?:I|we|it|they|he|she|you|my)\b)|(?:I|we|it|they|he|she|you) )(?:\b|(?<=\s))"
    r"|[^\x00-\u02ff\u0370-\u1fff\u3040-\ud7ff]",  # an emoji ends it too
)
# A phrase that ends with one of these means something else without what follows: "films that ...".
PHRASE_GOES_ON = re.compile(
    r"\"|that|who|whose|which|where|if|except|even|like (?:this|that|these|those)|I|we|it|they|he|"
    r"she|you"
)
ADJECTIVE_AT_END = re.compile(r"(?:^|\s)(?:an?|the|my|our|some|new) [\w-]+$")
POINTS_OUTSIDE = re.compile(
    r"\b(?:it|its|it's|this|that|that's|these|those|them|they|their|theirs|he|him|his|she|her|"
    r"hers|you|your|yours|here|there|one|ones|someone|something|anything|everything|nothing|stuff|"
    r"things?|same|such|what|how|why|whatever|not|so|another|other|others|both|all|each|more|"
    r"lots?|bit|few|itself|himself|herself|themselves|yourself|myself|ourselves)\b",
    re.I,
)
TRAILING_WORD = re.compile(
    r"\s(?:in|on|at|for|since|from|with|of|to|and|or|by|the|a|an|about|as|is|am|are|quite|very|"
    r"pretty|really|just)$"
)
TRAILING_TIME = ENGLISH.compile(
    r"\s(?:{TIME}|in (?:{MONTHS}|\d{4}|summer|winter|spring|autumn|fall|general|particular)|"
    r"since .*|for (?:an? |the (?:last|past) |\d+ |two |three "
    r"|four |five |ten |many |some |over |about |almost )+(?:while|year|month|week|day|decade|age|"
    r"long time|time).*|every .*|all the time|to this day|most of all|the most|these days|"
    r"for years|from time to time|in my .*)$"
)
FUTURE = ENGLISH.compile("{FUTURE}")


def first_phrase(text: str) -> str:
    """The words before the first sign that something else begins.

    Nothing when what begins there belongs to them: "films that ...", "a tall, old house".
    """
    window = text[:MAX_VALUE_CHARACTERS]
    end = PHRASE_END.search(window)
    if not end:
        return window.strip(" '-") if len(text) <= MAX_VALUE_CHARACTERS else ""
    phrase = window[: end.start()].strip(" '-")
    if PHRASE_GOES_ON.fullmatch(end[0].strip()) or (
        end[0] == "," and ADJECTIVE_AT_END.search(phrase)
    ):
        return ""
    return phrase


def first_phrase_before(text: str, stop_word: re.Pattern[str]) -> str:
    """The first phrase, up to the first of some small words."""
    return stop_word.split(first_phrase(text), maxsplit=1)[0].strip()


def stands_alone(value: str, *, max_words: int) -> bool:
    """Whether a value is short enough and points to nothing outside itself."""
    return 0 < len(value.split()) <= max_words and not POINTS_OUTSIDE.search(value)


def without_trailing_words(phrase: str) -> str:
    """The phrase without times and small words at its end, if then it stands alone.

    Else what precedes its "and", if that does.
    """
    for part in (phrase, phrase.partition(" and ")[0]):
        for _ in range(3):
            part = TRAILING_WORD.sub("", TRAILING_TIME.sub("", part))
        if part and stands_alone(part, max_words=MAX_VALUE_WORDS):
            return part
    return ""
