"""Words that carry little or no content, in one place.

The base is the English list of the package `stop-words` (1,333 words). Additions hold words that
the base lacks. Selections hold a few words of the base, for a purpose where the whole list would
drop too much. Ranking, labels and the gate were measured with exactly these words.
"""

from stop_words import get_stop_words


def word_set(text: str) -> frozenset[str]:
    """The words of a text that are separated by spaces."""
    return frozenset(text.split())


STOP_WORDS: frozenset[str] = frozenset(get_stop_words("en"))

# Addition: words that say when, how much or how. They cannot name a theme or a topic.
NAMES_NO_THEME = word_set(
    "yesterday tomorrow tonight morning afternoon evening night day days week weeks month monday "
    "tuesday wednesday thursday friday saturday sunday time times bit lot lots finally late nice "
    "lovely bad hour hours minute minutes takes told feel feels likes love loves loved hate looked "
    "haha hey calls names"
)
# Addition: words people say whatever they talk about. They cannot label a conversation.
SMALL_TALK = word_set(
    "thankful glad awesome amazing wow cool sound sounds hope hopes hoping happy yeah yep nope "
    "totally absolutely excited exciting wonderful fantastic beautiful sort people person guy guys "
    "stuff fun cute sweet perfect incredible inspiring special favorite favourite feeling feelings "
    "enjoy enjoys enjoying start starts starting stay share sharing helps helping finding hear "
    "guess bet remember wait care hard easy real wrong true lol yay omg congrats congratulations "
    "luck lucky cheers bye check checking talk talks talking chat wondering ready busy bring "
    "brings idea ideas tips advice support supportive piece pretty super happen happening"
)

# Selection: function words of three letters or more. They are not stored among a memory's words.
FUNCTION_WORDS = word_set(
    "the and but for into not such that their then there these they this was will with you your "
    "yours she her hers his him its our ours are were been being have has had did does doing just "
    "about from can could would should what when where who which how why whom whose than too very "
    "also any all some out off over under again only own same here because while until"
)
# Selection, and seven words the base lacks: words of a question that ask, rather than say what is
# asked for.
QUESTION_WORDS = FUNCTION_WORDS | word_set(
    "a an as at be by i if in is it no of on or to me my we he do so am us kind type sort kinds "
    "types sorts tell told remember know said say please many much did"
)
# Selection: words that make a question no news; the gate counts the others. Its text is folded, so
# that "don't" is "don t".
UNINFORMATIVE_WORDS = word_set(
    "a an and any anything are as at be been being but by can could did do does doing done for "
    "from get going good got had has have he her here him his how i if in is it its just know let "
    "like lot make me mean more my new not now of on one or our out really s say see she should "
    "so some something still t tell than that the their them then there these they thing things "
    "think this those to too up us was we were what when where which who why will with would yes "
    "you your yours ve re ll m d"
)
# Selection: words that are frequent in English and rare in related languages, so that they show
# that a text is English. "in" and "was" are German too.
ENGLISH_WORDS = word_set(
    "the and is are of to my your you it it's that that's this with for not have has had been "
    "will would i i'm i've i'll i'd don't can't we they he she his her their our but what when "
    "how there because about just really so from at be do did does got get going went am me all "
    "up out always never please stop any"
)
# Selection: the word after one of these is a noun, or an adjective of one.
DETERMINERS = word_set("a an the my your his her our their this that these those")
# Selections: words for who asks, and for who is asked.
FIRST_PERSON = word_set("i me my mine myself i'm i've i'd i'll")
SECOND_PERSON = word_set("you your yours yourself you're you've you'd you'll")
