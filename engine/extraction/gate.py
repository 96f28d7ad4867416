"""The gate: cuts greetings, fillers, acknowledgments, thanks and bare questions off a message.

A message is judged sentence by sentence. Junk is cut off at both ends; what lies between is kept
whole, so that a greeting before content does no harm and what was said together stays together.
"""

import re
from dataclasses import dataclass

from engine.extraction.courtesies import REASON_BY_COURTESY
from engine.text import (
    ENGLISH,
    UNINFORMATIVE_WORDS,
    clean_text,
    fingerprint,
    language_of,
    sentences,
    straighten_quotes,
    words,
)

MIN_WORDS = 2  # a single word means nothing without the question it answers
MIN_INFORMATIVE_WORDS = 3  # a question needs so many words of content to be worth keeping
MAX_FOREIGN_SMALL_TALK_WORDS = 5  # a question this short is small talk in any language
MAX_ROTE_CHARACTERS = 160  # no longer sentence is rote, so none is matched

VERY = r"(?:so|very|really|pretty|super|truly|absolutely|just|totally|such|quite|too|all) "
GOOD = (
    r"(?:great|good|cool|nice|awesome|amazing|wonderful|fantastic|lovely|sweet|fun|interesting|"
    r"neat|impressive|incredible|brilliant|beautiful|perfect|excellent|fair|true|right|crazy|wild|"
    r"funny|hilarious|cute|adorable|inspiring|tough|rough|hard|awful|terrible|sad|unfortunate|"
    r"exciting|thoughtful|insane|unreal|fab|fabulous|terrific|delicious|tasty|stunning|gorgeous|"
    r"epic)"
)
NEWS = r"(?:news|idea|point|question|plan|job|work|stuff|one|thing|time|choice|call|shot|pic|photo)"

# By reason. Each pattern must match a whole part of a sentence, as `fingerprint` folds it.
JUNK_PATTERNS: dict[str, re.Pattern[str]] = {
    "greeting": re.compile(
        r"(?:hi+|he+y+|hello+|hiya|howdy|yo|greetings|good (?:morning|afternoon|evening|day)|"
        r"morning|hola|bonjour|salut|coucou|hallo|servus|moin|guten (?:tag|morgen|abend)|ciao|"
        r"buongiorno|ol[aá]|bom dia|boa tarde|buenos d[ií]as|buenas tardes|hej|privet|привет|"
        r"здравствуйте)(?: (?:there|again|everyone|all|guys|friend|buddy|mate|folks|you|dear|"
        r"my friend|back))?"
        r"|long time no (?:see|talk|chat|speak)|welcome back|nice to meet you(?: too)?"
        r"|(?:it s |it is )?(?:so |really |very )?(?:good|great|nice|lovely|awesome) (?:to (?:see|"
        r"hear from|talk to|chat with) you|seeing you|hearing from you)(?: again| too)?"
    ),
    "farewell": re.compile(
        r"(?:bye+(?: bye)?|goodbye|good night|goodnight|night|see (?:you|ya)|cya|farewell|ttyl|"
        r"later|adi[oó]s|tsch[uü]ss|au revoir|ciao|tchau|hasta luego|cheers)(?: (?:later|soon|"
        r"tomorrow|around|then|again|next time|for now|all|everyone))?"
        r"|(?:talk|speak|chat|catch up|catch you|see you|talk to you|"
        r"speak to you)(?: again)? (?:soon|later|tomorrow)|take care(?: of yourself)?(?: too)?|"
        r"have (?:a|an) \w+ (?:day|one|time|evening|night|weekend|week|trip|morning|afternoon)"
        r"|you too|gotta (?:go|run)|i(?: have|ve)? got(?:ta| to) (?:go|run)|until next time"
        r"|have fun|enjoy|sleep well|sweet dreams|stay safe|catch you later|keep in touch"
    ),
    "thanks": re.compile(
        r"(?:many |okay |ok )?(?:thanks?|thank you|thx|ty|tysm|cheers|danke|merci|gracias|"
        r"obrigad[oa]|grazie)(?: (?:again|a lot|a bunch|so much|very much|a million|too|you|"
        r"everyone|all|man|buddy|for (?:asking|sharing|listening|that|this|everything|"
        r"your (?:help|support|advice|kind words)|the (?:help|support|advice|tips?|info|"
        r"kind words|encouragement|heads up|update)|(?:letting me know|telling me|understanding|"
        r"being there|checking in)))){0,2}"
        r"|i (?:really |so )?appreciate (?:it|that|this|you|your (?:help|support|advice))"
        r"|you re (?:so |very |most )?(?:welcome|kind|sweet|the best)|you are (?:so )?(?:welcome|"
        r"kind)"
        r"|no (?:problem|worries)|my pleasure|don t mention it|any ?time|de nada|bitte"
    ),
    "acknowledgment": re.compile(
        r"(?:ok+|okay|okey|k|kk|yes|yes+|yea+h*|yep|yup|ye|ya|no|nope|nah|sure|sure thing|alright|"
        r"all right|right|exactly|absolutely|definitely|totally|indeed|agreed|true|of course|"
        r"for sure|got it|gotcha|understood|noted|roger|fine|deal|done|same|same here|me too|"
        r"me neither|i (?:totally |completely |definitely |really )?(?:see|agree|understand|know|"
        r"get it|do|did|am|will|bet|hope so|think so|guess so|guess|feel you|hear you|"
        r"can imagine)|makes? sense|(?:that|it) makes (?:total |a lot of )?sense|sounds (?:good|"
        r"great|like a plan|fun|perfect)|(?:it|that|you) (?:sure )?(?:does|do|did|is|was|will|"
        r"are)|will do|fair enough|you bet|you re (?:so |totally |absolutely )?right|that s right|"
        r"no doubt|not really|not yet|kind of|sort of|i don t know|idk|dunno|maybe|perhaps|s[ií]|"
        r"oui|non|ja|nein|da|claro|genau|vale|d accord)(?: (?:then|too|thanks|sure|ok|okay))?"
    ),
    "filler": re.compile(
        r"(?:(?:ha){2,}h?|(?:he){2,}|lo+l|lmao|rofl|hm+|mhm+|uh+m*|um+|er+m*|oh+|ah+|aw+w*|ooh+|"
        r"wow+|whoa+|woah+|yay+|ugh+|oops|phew|geez|jeez|gosh|well|so|anyway|anyways|like|"
        r"you know|i mean|let me see|let s see|oh (?:wow|no|my|yeah|yes|my (?:god|gosh)|dear|man|"
        r"boy|well)|omg|damn|no way|way to go|good for you|good luck(?: with (?:it|that|"
        r"everything))?|go for it|keep it up|you (?:got|ve got) this|congrats|congratulations|"
        r"happy birthday|bravo|well done|nicely done|my goodness|for real|fingers crossed|"
        r"cool cool|interesting|guess what|tell me (?:more|about it)(?: about (?:it|that))?|"
        r"let me know(?: how it goes)?|i m (?:so |really |very )?(?:glad|sorry|(?:glad|happy|"
        r"sorry|excited|proud|thrilled) (?:to hear (?:it|that|this)|for you|of you|about (?:it|"
        r"that)|you (?:like|liked|enjoyed) (?:it|that)))"
        r"|(?:(?:that|this|it|those|they|you|he|she)(?: s| is| are| re| was| were| sounds?|"
        r" looks?| must be| "
        rf"must have been| would be)? )?(?:like )?(?:a |an )?(?:{VERY})*(?:a |"
        rf"an )?{GOOD}(?: {NEWS})?(?: (?:indeed|too|then|to hear|of you|for you))?"
        rf"|(?:what|how) (?:a |an )?{GOOD}(?: {NEWS})?|what (?:a )?(?:fun|shame|pity|relief)"
        r"|(?:that|it)(?: s| is)? (?:awesome|great|good|nice) to hear|sounds (?:like (?:a )?\w+|"
        r"\w+)"
        r"|(?:i )?can t wait(?: to (?:hear|see)(?: more)?(?: about it| it)?)?|love it|"
        r"i love (?:it|that|this))"
    ),
    "small_talk": re.compile(
        r"(?:and |so |but )?(?:how (?:are|r) (?:you|u|things|ya)(?: (?:doing|feeling|"
        r"going))?(?: (?:today|lately|these days|now))?"
        r"|how (?:have|ve) you been(?: doing| lately)?|how s (?:it|everything|life|stuff|"
        r"your (?:day|week|weekend)|things)(?: (?:going|been|with you|treating you|"
        r"been going))?(?: so far| lately)?"
        r"|how (?:was|is) (?:your|the) (?:day|week|weekend|morning|evening|night)(?: so far|"
        r" going)?|how about (?:you|yours|yourself)"
        r"|what s (?:up|new|happening|going on|good|cooking|the latest)(?: (?:with (?:you|ya)|"
        r"lately|today))?"
        r"|what (?:about|of) (?:you|yours|yourself)|sup|wassup|anything new(?: with you)?|"
        r"what have you been up to(?: lately)?"
        r"|you|you too|and yours|how so|why|why not|really|seriously|right|what|huh|for real|"
        r"is that so|you ok(?:ay)?"
        r"|are you (?:ok|okay|alright|there)|what do you (?:think|say|mean)|do you(?: know)?|"
        r"isn t it|don t you(?: think)?"
        r"|wie geht s(?: dir)?|c[oó]mo est[aá]s|qu[eé] tal|[cç]a va|come stai|tudo bem)"
    ),
}

PART_SEPARATOR = re.compile(
    r"[,!;:]+\s+|[\u3001\uff0c\uff01\uff1b\uff1a\u060c\u061b]+\s*|\s+-+\s+"
    r"|\s*[!?.\u3002\uff1f\u061f\u0964]+\s*$"
)
VOCATIVE = re.compile(r"[^\W\d_][\w'-]{1,20}")
NAME_AFTER_JUNK = re.compile(r"(.*\S) [A-Z][\w'-]{1,20}")
QUESTION = re.compile(r"\?[\"')\]\s]*$")
FIRST_PERSON_SUBJECT = re.compile(r"\b(?:i|my|mine|we|our|ours)\b")
FIRST_PERSON_OBJECT = re.compile(r"\b(?:me|us)\b")
# Questions that announce something: they tell news rather than ask for it.
ANNOUNCES = re.compile(
    r"\b(?:did (?:you|i|we) (?:hear|know|see|tell|mention)|have (?:you|i) (?:heard|told|"
    r"mentioned)|do you (?:know|remember) (?:that|when|how|my|the)|remember (?:when|that|how|my|"
    r"the)|guess (?:what|who))\b"
)


@dataclass(frozen=True, slots=True)
class GateResult:
    """The part of a message that passes the gate, and the reasons for what does not."""

    content: str  # empty when nothing passes
    kept: tuple[str, ...]  # the sentences that are searched for statements and feelings
    left_out: tuple[str, ...]  # reasons, each once


def gate(text: str) -> GateResult:
    """The message without the junk at its beginning and end."""
    cleaned = clean_text(text)
    all_sentences = sentences(cleaned)
    reasons = [junk_reason(sentence) for sentence in all_sentences]
    left_out = tuple(dict.fromkeys(reason for reason in reasons if reason))

    kept = [index for index, reason in enumerate(reasons) if reason is None]
    if not kept:
        return GateResult("", (), left_out or ("empty",))
    # Questions right after a statement belong to it; alone they are junk.
    first, last = kept[0], kept[-1]
    while last + 1 < len(all_sentences) and reasons[last + 1] == "question":
        last += 1

    separator = "\n" if "\n" in cleaned else " "
    content = separator.join(all_sentences[first : last + 1])
    return GateResult(content, tuple(all_sentences[index] for index in kept), left_out)


def junk_reason(sentence: str) -> str | None:
    """The reason a sentence is not worth keeping, or None when it is."""
    plain = straighten_quotes(sentence)
    folded = fingerprint(plain)
    if not folded:
        return "emoji" if any(ord(letter) > 0x2000 for letter in sentence) else "empty"
    if reason := rote_reason(plain):
        return reason
    if QUESTION.search(plain) and not is_informative(folded) and not is_foreign(plain):
        return "question"
    if len(words(plain)) < MIN_WORDS and not is_unspaced(folded):
        return "too_short"
    return None


def rote_reason(sentence: str) -> str | None:
    """The reason of the first part when every part of the sentence is rote, otherwise None."""
    if len(sentence) > MAX_ROTE_CHARACTERS:
        return None
    parts = [part for part in PART_SEPARATOR.split(sentence) if fingerprint(part)]
    reasons = [reason for part in parts if (reason := rote_part_reason(part)) != "vocative"]
    if not reasons or None in reasons:
        return None
    return reasons[0]


def rote_part_reason(part: str) -> str | None:
    """The reason a part of a sentence is rote, "vocative" for a lone name, or None."""
    folded = fingerprint(part)
    if folded in REASON_BY_COURTESY:
        return REASON_BY_COURTESY[folded]
    for reason, pattern in JUNK_PATTERNS.items():
        if pattern.fullmatch(folded):
            return reason
    if VOCATIVE.fullmatch(part.strip()) and part.strip()[0].isupper():
        return "vocative"
    if named := NAME_AFTER_JUNK.fullmatch(part.strip()):
        before_name = rote_part_reason(named[1])
        return None if before_name == "vocative" else before_name
    return None


def is_informative(folded: str) -> bool:
    """Whether a question also tells something: about the speaker, or as news."""
    word_count = sum(word not in UNINFORMATIVE_WORDS for word in folded.split())
    if ANNOUNCES.search(folded):
        return word_count >= MIN_INFORMATIVE_WORDS - 1
    if FIRST_PERSON_SUBJECT.search(folded):
        return word_count >= MIN_INFORMATIVE_WORDS
    return bool(FIRST_PERSON_OBJECT.search(folded)) and word_count > MIN_INFORMATIVE_WORDS


def is_foreign(sentence: str) -> bool:
    """Whether a question may tell something in a language `is_informative` does not know."""
    return len(words(sentence)) > MAX_FOREIGN_SMALL_TALK_WORDS and language_of(sentence) != ENGLISH


def is_unspaced(folded: str) -> bool:
    """Whether a text is in a script without spaces, where one word can be a sentence."""
    return len(folded) >= 4 and ord(max(folded)) > 0x0E00
