"""Values of preferences and standing instructions: what is wanted, in the words it was said in.

Functions as in `values.py`: each takes the text from the value on, and an empty string means that
there is none.
"""

import re

from engine.extraction.phrases import ENGLISH, TRAILING_WORD

MAX_CHARACTERS = 240  # of a clause, in which the value is looked for
MAX_WORDS = 32
GERUNDS = ENGLISH.tables["GERUNDS"]

# Where the words of a preference end, and a reason, a question or another clause begins.
PREFERENCE_END = re.compile(
    r"[;:!?()\[\]\"*#~]|\.+$|\s-|,?\s(?:because|since|but|so|while|although|though|due to|"
    r"thanks to|considering|which|as (?=(?:I|we|it|they|that)\b)|and (?=(?:I|we|my|it|they|you|can|"
    r"could|how)\b))|,\s(?:you know|how|what|which|where|why|can|could|do|is|are|would|should|"
    r"especially|maybe|I|we|as|like my|using|to|and I)\b"
)
# What was said just before, at the place of what is preferred or wanted.
POINTS_BACK = re.compile(
    r"(?:it|its|this|that|these|those|them|him|her|one|ones|both|neither|either|so|not)\b"
    r"(?! \w+ing\b)",
    re.I,
)
ONE_OFF = ENGLISH.compile(
    r"(?i)\b(?:{FUTURE}|today|tonight|right now|this (?:time|one|once|file|message|line|case)|here|"
    r"for now|just once|next|below|above)\b"
)
# "Never give up" and "always keep smiling" are said to people, for comfort.
MOTTO = re.compile(
    r"(?:give (?:up|in)|keep (?:\w+ing\b|on\b|up\b|your|an? )|put yourself|start (?:small|over)|"
    r"talk (?:to|about) (?:strangers|yourself)|check (?:in|out)|speak (?:up|your)|"
    r"treat (?:people|others|yourself|them)|focus on (?:the|what|your|yourself)|"
    r"remind (?:yourself|me of|us of)|ask (?:for help|yourself))\b",
    re.I,
)
INSTRUCTION_END = re.compile(
    r"[;!?]|\.+\s*$|,?\s+(?:please|thanks|thank you|okay|ok|alright|because|since I|as I)\b", re.I
)
WHEN_I_ASK = re.compile(r"\b(?:when(?:ever)?|if|every time|each time) I ask(?: you)?\b", re.I)
VERB_AND_PERSON = re.compile(r"\w[\w-]*(?: (?:up|out|down|on|to|for|me|us|with|from))*\s+")
CONDITION_START = re.compile(r"^(?:When|If|For|In|With|Every|Each|Any)\b")
I_AM, I_ALONE = re.compile(r"\bI am\b"), re.compile(r"\bI\b")


def preferred(text: str) -> str:
    """What somebody prefers, without the reason."""
    value = TRAILING_WORD.sub("", text_before(PREFERENCE_END, text).strip(" ,'-"))
    points_back = POINTS_BACK.match(value.removeprefix("to "))
    return value if len(value.split()) <= MAX_WORDS and not points_back else ""


def instruction(text: str) -> str:
    """What is wanted of every answer; nothing that is wanted once, or said for comfort."""
    value = as_asked(text_before(INSTRUCTION_END, text).strip(" ,.'-"))
    verb = VERB_AND_PERSON.match(value)
    if not verb or len(value.split()) > MAX_WORDS:
        return ""
    is_other = ONE_OFF.search(value) or MOTTO.match(value) or POINTS_BACK.match(value, verb.end())
    return "" if is_other else value


def stopped_instruction(text: str) -> str:
    """What is no longer wanted, after "stop": "using emojis" is "use emojis"."""
    verb, _, rest = text.partition(" ")
    return instruction(f"{GERUNDS[verb.lower()]} {rest}")


def as_asked(text: str) -> str:
    """An instruction about the user's questions as others tell it: "when asked about"."""
    told = I_ALONE.sub("they", I_AM.sub("they are", WHEN_I_ASK.sub("when asked", text)))
    return CONDITION_START.sub(lambda word: word[0].lower(), told)


def text_before(end: re.Pattern[str], text: str) -> str:
    """The text up to where the pattern matches; empty when it goes on for too long without."""
    window = text[:MAX_CHARACTERS]
    if match := end.search(window):
        return window[: match.start()]
    return window if len(text) <= MAX_CHARACTERS else ""
