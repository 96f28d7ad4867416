"""Words for the parts of everyday life, which name a theme and give nothing away.

Broad nouns, and a few verbs that stand for them. No name, no number, no illness, no faith, no side
in a quarrel: what somebody would not want to be read off a list is not on it.
"""

from engine.text.prose import words
from engine.text.stop_words import word_set

EVERYDAY_WORDS = word_set(
    # People and home
    "family parents mother father mom dad sister brother kids children baby friend friends "
    "neighbor neighbour neighbors home house apartment room kitchen garden yard furniture moving "
    "cleaning party birthday wedding holiday holidays gift gifts visit guests dinner lunch "
    "breakfast "
    # Food and drink
    "food cooking baking cake bread soup salad fruit vegetables meal meals recipe recipes "
    "restaurant coffee tea "
    # Work and school
    "work working job office career project projects team meeting meetings business company "
    "customer customers boss colleague colleagues school class classes course student students "
    "teacher teaching study studying exam exams college university degree training interview "
    # Leisure
    "music song songs band concert guitar piano dance dancing singing art painting drawing "
    "photo photos photography camera craft crafts pottery sewing knitting writing book books "
    "reading story stories poetry movie movies film films series show game games gaming play "
    "playing theater theatre museum hobby hobbies "
    # Body and mind
    "health sleep exercise fitness gym yoga running run walk walking hiking hike swimming cycling "
    "bike climbing sport sports football soccer basketball tennis race stress energy rest mood "
    # Nature and animals
    "nature weather rain snow summer winter spring autumn beach sea ocean lake river mountain "
    "mountains forest park tree trees flower flowers plant plants animal animals pet pets dog "
    "dogs puppy cat cats kitten bird birds fish "
    # Places and travel
    "travel traveling travelling trip trips vacation journey flight train car cars bus road city "
    "town village country camping camp hotel "
    # Things and money
    "money budget shopping shop store clothes phone computer laptop software internet website "
    "machine tools "
    # Doing things together
    "community volunteer volunteering event events club group charity help plans planning goal "
    "goals advice"
)


def everyday_words_of(text: str) -> list[str]:
    """The words of a text that are everyday words, in their order."""
    return [word for word in words(text.lower()) if word in EVERYDAY_WORDS]
