"""What a value may be: each shape takes the words after a verb and gives the value, or nothing.

Nothing is the usual answer: words that point outside themselves ("it", "your", "that one"), that
are too many, or that were cut off in the middle of a thought, are no value.
"""

import re

from engine.extraction.vocabulary import CAPITAL, JOBS, MONTHS, NOT_NAMES
from engine.text import word_set

MAX_LOOK = 160  # characters of a clause after its verb that a value may be found in
MAX_VALUE_WORDS = 9
MAX_PLAN_WORDS = 14

TIME = (
    r"(?:last|this|next) (?:year|month|week|weekend|summer|winter|spring|autumn|fall|night)|"
    r"in (?:\d{4}|(?:" + MONTHS + r"))|today|yesterday|"
    r"(?:a (?:few|couple of) |\w+ )(?:years|months|weeks|days) ago|right now|now|nowadays|"
    r"these days|currently|lately|recently|at the moment|for now"
)
CUT = re.compile(
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
# What may not be cut off without changing what the words before it mean.
BINDS = re.compile(
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
SHARED_THE = re.compile(
    r"the (?:[A-Z]|colou?r \w|(?:smell|sound|taste) of \w|(?:beach|sea|ocean|outdoors|mountains?|"
    r"rain|snow|cold|heat|countryside|city|summer|winter|sun|sunshine|woods|forest|gym|theatre|"
    r"theater|opera|ballet|cinema|dark|dentist|guitar|piano|violin|cello|flute|drums|saxophone|"
    r"trumpet|harp|ukulele|accordion|clarinet|banjo)(?:$| (?:and|at|by|in|on|with)\b))"
)
PLACE = re.compile(
    rf"(?:the )?{CAPITAL}[\w'.-]{{1,30}}(?: (?:(?:de|da|do|del|la|le|los|of|upon|on|am|"
    rf"the) )?{CAPITAL}[\w'.-]{{1,30}}){{0,3}}"
)
LOWER_PLACE = re.compile(
    r"(?!(?:a|an|the|my|our|this|that|another|with|here|there|town|with|yesterday|today|tomorrow|"
    r"last|next|together|peace|fear|hope|two|three|new|old|different|"
    r"one)\b)[a-z]{3,20}(?: [a-z]{3,20})?$"
)
TRAILING = re.compile(
    r"\s(?:in|on|at|for|since|from|with|of|to|and|or|by|the|a|an|about|as|is|am|are|quite|very|"
    r"pretty|really|just)$"
)
TAIL_TIME = re.compile(
    rf"\s(?:{TIME}|in (?:{MONTHS}|\d{{4}}|summer|winter|spring|autumn|fall|general|particular)|"
    rf"since .*|for (?:an? |the (?:last|past) |\d+ |two |three "
    r"|four |five |ten |many |some |over |about |almost )+(?:while|year|month|week|day|decade|age|"
    r"long time|time).*|every .*|all the time|to this day|most of all|the most|these days|"
    r"for years|from time to time|in my .*)$"
)


def head(rest: str) -> str:
    """The words before the first sign that something else begins.

    Nothing when what begins there belongs to them: "films that ...", "a tall, old house".
    """
    window = rest[:MAX_LOOK]
    cut = CUT.search(window)
    if not cut:
        return window.strip(" '-") if len(rest) <= MAX_LOOK else ""
    value = window[: cut.start()].strip(" '-")
    if BINDS.fullmatch(cut[0].strip()) or (cut[0] == "," and ADJECTIVE_AT_END.search(value)):
        return ""
    return value


def thing(rest: str, *, most: int = MAX_VALUE_WORDS) -> str:
    """Something with a name of its own, or nothing."""
    value = short(head(rest).removeprefix("also "), most)
    if value.startswith("the ") and not SHARED_THE.match(value):
        return ""
    return value


def short(value: str, most: int) -> str:
    """The value without trailing times, or what precedes its "and": short, standing for itself."""
    for part in (value, value.partition(" and ")[0]):
        for _ in range(3):
            part = TRAILING.sub("", TAIL_TIME.sub("", part))
        if part and len(part.split()) <= most and not POINTS_OUTSIDE.search(part):
            return part
    return ""


def before(rest: str, stop: re.Pattern[str]) -> str:
    """What `head` gives, up to the first of some small words."""
    return stop.split(head(rest), maxsplit=1)[0].strip()


def stands_alone(value: str, *, most: int) -> bool:
    return 0 < len(value.split()) <= most and not POINTS_OUTSIDE.search(value)


NOT_PLACES = word_set(
    "Sales Marketing Engineering Finance HR IT Legal Support Design Product Research Windows "
    "Linux Mac Android iOS Python Java Rust Google Apple Microsoft Amazon Slack Discord Teams "
    "Heaven Hell"
)


FIRMS = word_set(
    "Company Software Inc Ltd Corp Corporation Bank Hotel University College School Group Office "
    "Agency Department Store Shop Restaurant Cafe Insurance Airlines Electronics Industries "
    "Trading Associates Partners Limited Systems Solutions Technologies"
)


def place(rest: str) -> str:
    found = PLACE.match(rest[:MAX_LOOK])
    if not found:
        return ""
    name = found[0].rstrip(".'-")
    first, last = name.split()[0], name.split()[-1]
    if first in NOT_NAMES or first in NOT_PLACES or last in FIRMS or name.endswith("'s"):
        return ""
    return name


def place_or_lower(rest: str) -> str:
    """Where a whole message has no capitals, a place cannot have one either."""
    value = TRAILING.sub("", TAIL_TIME.sub("", head(rest)))
    return value if LOWER_PLACE.fullmatch(value) and not POINTS_OUTSIDE.search(value) else ""


AFTER_EMPLOYER = re.compile(r"\s(?:as|in|on|since|last|this|next|from|full|part|and)\b")
NO_EMPLOYER = word_set("home night nights least work free all me my our times")
PUBLIC_BODY = re.compile(
    r"the (?:\w+ )?(?:council|hospital|government|university|police|army|navy|air force|"
    r"fire department|library|museum|post office|railway|airport|state|city)"
)


def organisation(rest: str) -> str:
    value = before(rest, AFTER_EMPLOYER)
    if not stands_alone(value, most=5) or value.split()[0].lower() in NO_EMPLOYER:
        return ""
    named = any(word[0].isupper() for word in value.split())
    return value if named or SOME.match(value) or PUBLIC_BODY.fullmatch(value) else ""


SOME = re.compile(r"an? ")
ARTICLE = re.compile(r"^(?:an?|the|my|our) ", re.I)
AFTER_JOB = re.compile(r"\s(?:at|for|in|with|and|by|on|from|of|to|who|here|there|since)\b")
A_JOB = re.compile(rf"\b(?:{JOBS})$", re.I)


def occupation(rest: str) -> str:
    value = ARTICLE.sub("", TAIL_TIME.sub("", before(rest, AFTER_JOB)))
    return value if stands_alone(value, most=4) else ""


def known_occupation(rest: str) -> str:
    """An occupation of the list, where anything else could follow the verb too."""
    value = occupation(rest).removeprefix("new ")
    return value if A_JOB.search(value) and not PRAISE.search(value) else ""


# "A good driver" is a skill, not a living.
PRAISE = re.compile(
    r"\b(?:good|great|bad|very|top|terrible|decent|better|best|big|huge|slow|fast|careful|"
    r"excellent|poor|lousy|real|total|natural|born|former|future|aspiring|wannabe|fellow|amateur|"
    r"hopeless)\b"
)


LIST_FOLLOWS = re.compile(r"\s*,(?: [\w' -]{1,40},)*(?: [\w' -]{1,40})?,? (?:and|or) ")
FUTURE = (
    r"(?:tomorrow|tonight|soon|next (?:week|month|year|weekend|summer|winter|spring|autumn|fall|"
    r"time|\w+day)|this (?:week|month|year|weekend|summer|winter|spring|autumn|fall|\w+day|"
    r"coming \w+)|later (?:today|this \w+)|in a (?:week|month|year)|in (?:\d+|a few|two|three|"
    r"a couple of) (?:days|weeks|months|years)|on (?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day)"
)
IN_FUTURE = re.compile(FUTURE)


def doing(rest: str) -> str:
    """What somebody is about to do."""
    found = head(rest)
    if LIST_FOLLOWS.match(rest[len(found) :]):
        return ""
    value = TRAILING.sub("", found)
    if not stands_alone(value, most=MAX_PLAN_WORDS):
        value = TRAILING.sub("", found.partition(" and ")[0])
    says_enough = len(IN_FUTURE.sub("", value).split()) > 1
    if not says_enough or not stands_alone(value, most=MAX_PLAN_WORDS):
        return ""
    return "" if EMPTY_DOING.match(value) else value


EMPTY_DOING = re.compile(
    r"(?:be(?! an? )|have|make sure|do|try|see|hear|know|say|tell|ask|thank|share|show|miss|need|"
    r"bed|keep|let|feel|think|look|check|give|continue|talk|mention|remember|admit|wait|find out|"
    r"come back|get back|pay attention|take a (?:look|break)|help|remind|sleep|use|work|put|stay|"
    r"focus|make a difference|cry|die|kill|stop)\b",
    re.I,
)


def whole(rest: str) -> str:
    return rest.strip()


def number(rest: str) -> str:
    return rest.strip().lower()


ABSTRACT = re.compile(
    r"\b(?:lot|few|question|feeling|idea|surprise|time|plan|day|chance|schedule|pic|picture|photo|"
    r"shot|clip|video|news|text|call|message|way|place|job|role|position|look|appreciation|"
    r"perspective|respect|start|life|skill|skills|project|goal|challenge|experience|friend|"
    r"friends|neighbou?r|boss|recipe|record|level|step|opportunity|understanding|hobby|love|"
    r"passion|interest|insight|update|thing|one|dream|routine|phase|chapter|family|ticket|drink|"
    r"coffee|meal|snack|sense|season|game plan|drive|energy|motivation|baby|kid|child|girlfriend|"
    r"boyfriend|partner|haircut|tattoo|addition)\b"
)


GIFT = re.compile(r"\sfor (?:my|our|a|his|her|him|the)\b")
AFTER_THING = re.compile(r"\s(?:from|for|in|on|at|with|to|of|and|last|this|yesterday|today)\b")


def owned(rest: str) -> str:
    value = before(rest, AFTER_THING)
    if GIFT.search(rest) or " " not in value or not stands_alone(value, most=5):
        return ""
    return "" if ABSTRACT.search(value) else MY_AT_START.sub("a ", value)


MY_AT_START = re.compile(r"^my ")
AFTER_PLACE = re.compile(r"\s(?:on|every|for|and|in|last|this|to|as)\b")


def some_place(rest: str) -> str:
    value = before(rest, AFTER_PLACE)
    return value if stands_alone(value, most=6) else ""


GROUP = re.compile(
    r"\b(?:club|group|team|band|choir|orchestra|gym|league|class|society|association|community|"
    r"union|church|network|troupe|squad|guild|forum|board|committee|organi[sz]ation|non-?profit|"
    r"cooperative|co-op)$"
)


def group(rest: str) -> str:
    value = some_place(rest)
    return value if GROUP.search(value) else ""


# "Passed away" and "ran an errand" are no feats.
TESTED = re.compile(
    r"(?!passed|ran)|passed .*\b(?:test|exams?|finals|course|class)\b|ran .*\b(?:marathon|10k|5k|"
    r"race)\b"
)


def feat(rest: str) -> str:
    value = thing(rest)
    return value if TESTED.match(value) else ""


AFTER_SUBJECT = re.compile(r"\s(?:at|in|for|to|and|with|since|from|on|as|by)\b")
NO_SUBJECT = re.compile(r"(?:at|in|for|abroad|hard|to|with|all|an?|the|my|our)\b", re.I)


def studies(rest: str) -> str:
    value = before(rest, AFTER_SUBJECT)
    return value if stands_alone(value, most=4) and not NO_SUBJECT.match(value) else ""


# What people say they love out of kindness, or of something in front of them.
REACTION = re.compile(
    r"(?:how|what|when|the way|the idea|hearing|seeing|knowing|chatting|talking|sharing|helping|"
    r"my job|being able|getting to|see|hear|know|think|say|be|have|add|use|an?|most|many|every|"
    r"some|two|three|any|no|watch(?:ing)? (?:my|our)|where|giving|showing|imagining|looking|"
    r"working|the|and|for|in|on|with|too)\b"
)


EMPTY_LIKING = word_set(
    "to do play practice practise going coming waiting leaving doing getting having being trying "
    "watching listening looking talking sitting standing seeing making taking using"
)


def liked(rest: str) -> str:
    value = thing(rest)
    if SHARED_THE.match(value):
        return value
    return "" if value in EMPTY_LIKING or REACTION.match(value.removeprefix("to ")) else value


AFTER_PASTIME = re.compile(r"\s(?:to|for|in order|with|at|on)\b")


def pastime(rest: str) -> str:
    return liked(before(rest, AFTER_PASTIME))


def going(rest: str) -> str:
    value = TRAILING.sub("", head(rest))
    if not stands_alone(value, most=MAX_PLAN_WORDS):
        return ""
    return f"go to {value}" if IN_FUTURE.search(value) or place(rest) else ""


# What is wanted at a counter is had a minute later.
ERRAND = re.compile(
    r"(?:speak|book|pay|order|deposit|withdraw|pick up|transfer|change|exchange|return|repay|send|"
    r"reserve|cash|check (?:in|out)|make an? (?:\w+ )?(?:call|withdrawal|deposit|reservation|"
    r"appointment|complaint|payment|booking)|go|leave|get to|add|point out|discuss|"
    r"introduce)\b(?! back)"
)
A_VERB = re.compile(r"(?!(?:an?|my|the|some)\b)[a-z]+\s")


def wanted(rest: str) -> str:
    value = doing(rest)
    if GO_SOMEWHERE.match(value):
        return value
    return value if A_VERB.match(value) and not ERRAND.match(value) else ""


GO_SOMEWHERE = re.compile(r"go (?:to [A-Z]|back to \w|abroad\b|on an? \w)")


NO_FAVOURITE = re.compile(r"(?:when|to|being|getting|definitely when|of)\b")


def favoured(rest: str) -> str:
    value = head(rest)
    return (
        value if stands_alone(value, most=MAX_VALUE_WORDS) and not NO_FAVOURITE.match(value) else ""
    )


PREPOSITION = re.compile(r"\b(?:with|of|for|in|to|on|at|about|from)\b")
LIST_END = re.compile(r"[.;:!?()\"]|\s-")
BETWEEN = re.compile(r",\s*(?:and |or )?|\s(?:and|or)\s")


def listed(rest: str) -> list[str]:
    """The members of "a, b and c". A list needs its last "and": else a comma may begin anything."""
    chunk = LIST_END.split(rest[:MAX_LOOK])[0]
    parts = [part.strip() for part in BETWEEN.split(chunk)]
    is_list = "," in chunk and re.search(r"\b(?:and|or)\b", chunk.rpartition(",")[2])
    if not is_list or PREPOSITION.search(parts[0]) or not 3 <= len(parts) <= 6:
        return []
    alike = all(0 < len(part.split()) <= 3 and liked(part) == part for part in parts)
    return parts if alike else []
