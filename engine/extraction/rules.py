"""The ways to state things: one rule, one way, matched where the verb of a clause begins."""

import re
from collections.abc import Callable
from dataclasses import dataclass

from engine.extraction.values import (
    FUTURE,
    POINTS_OUTSIDE,
    doing,
    feat,
    going,
    group,
    known_occupation,
    liked,
    number,
    occupation,
    organisation,
    owned,
    pastime,
    place,
    some_place,
    studies,
    thing,
    wanted,
    whole,
)
from engine.extraction.vocabulary import (
    AILMENTS,
    CAPITAL,
    CHILDREN,
    DIETS,
    FAITHS,
    INSTRUMENTS_AND_GAMES,
    JOBS,
    LANGUAGES,
    MONTHS,
    OWNED,
    PEOPLES,
    PETS,
    SIBLINGS,
    TRAITS,
)

ADVERBS = (
    r"(?:(?:really|just|also|still|actually|absolutely|totally|recently|already|always|usually|"
    r"truly|honestly|currently|now|definitely|both|both of us|finally|genuinely|simply|especially|"
    r"mostly|particularly|often|officially|proudly|completely|personally|only|so|quite) )*"
)
NAME = rf"{CAPITAL}[\w'-]{{1,20}}(?: {CAPITAL}[\w-]{{1,20}})?"


@dataclass(frozen=True, slots=True)
class Rule:
    """One way to state one thing.

    The groups of `pattern`: `value`, and perhaps `no`, which turns the statement round.
    """

    kind: str
    attribute: str
    pattern: re.Pattern[str]
    says: str
    denies: str
    shape: Callable[[str], str]
    fixed: str
    of_others: bool
    lists: bool
    holds: bool


def rule(
    kind: str,
    attribute: str,
    pattern: str,
    says: str,
    denies: str = "",
    *,
    shape: Callable[[str], str] = thing,
    fixed: str = "",  # the value, where the pattern itself means one
    of_others: bool = False,  # whether it may be said of "my sister" too
    lists: bool = False,  # whether "a, b and c" are three values
    holds: bool = True,  # False where the wording itself denies: "quit smoking"
) -> Rule:
    return Rule(
        kind, attribute, re.compile(pattern), says, denies, shape, fixed, of_others, lists, holds
    )


END = (
    r"(?=\s*(?:$|[,.;:!?)]| (?:and|but|so|now|too|already|today|last|this|any|anymore|again|"
    r"yesterday|years?|since|with|because|at|for|in|who|by)\b))"
)
REST = r"(?P<value>.+)"
NO_DO = r"(?P<no>do not |no longer |never )?"
NO_AM = r"am (?P<no>not |no longer )?"
VERY = ADVERBS
COUNT = r"(?P<count>an?|one|two|three|four|five|six|seven|eight|\d{1,2}|twin|several|many)"
NUMBER_WORD = (
    r"(?:twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety)(?:-(?:one|two|three|four|five|six|"
    r"seven|eight|nine))?"
)
DATE = (
    rf"(?:the )?(?:(?:{MONTHS})\.? \d{{1,2}}(?:st|nd|rd|th)?|\d{{1,2}}(?:st|nd|rd|"
    rf"th)?(?: of)? (?:{MONTHS}))(?:,? \d{{4}})?"
)

RULES: tuple[Rule, ...] = (
    # Who they are
    rule(
        "fact",
        "name",
        rf"am (?:called|named) (?P<value>{NAME}){END}",
        "{who}'s name is {value}.",
        shape=place,
    ),
    rule(
        "fact",
        "age",
        rf"(?:am|turned|have turned) (?P<value>\d{{1,3}}|{NUMBER_WORD})(?: years?(?: "
        r"|-)old)?(?=\s*(?:$|[,.;!?)]|"
        rf" (?:and|but|so|now|today|last|this|yesterday|on|already|in (?:{MONTHS}|\d{{4}}))\b))",
        "{who} is {value} years old.",
        shape=number,
        of_others=True,
    ),
    rule(
        "fact",
        "birthday",
        rf"was born on (?P<value>{DATE})",
        "{who}'s birthday is {value}.",
        shape=whole,
        of_others=True,
    ),
    rule(
        "fact",
        "birth_year",
        rf"was born (?:in|on {DATE},?) (?:(?:{MONTHS}),? )?(?P<value>(?:19|20)\d\d)\b",
        "{who} was born in {value}.",
        shape=whole,
        of_others=True,
    ),
    rule(
        "fact",
        "birthplace",
        rf"was born (?:and (?:raised|bred) )?(?:and grew up )?in {REST}",
        "{who} was born in {value}.",
        shape=place,
        of_others=True,
    ),
    rule(
        "fact",
        "hometown",
        rf"(?:grew up|was raised|was born and raised|was brought up) in {REST}",
        "{who} grew up in {value}.",
        shape=place,
        of_others=True,
    ),
    rule(
        "fact",
        "hometown",
        rf"(?:am|come)(?: originally| actually)? from {REST}",
        "{who} is from {value}.",
        shape=place,
        of_others=True,
    ),
    rule(
        "fact",
        "nationality",
        rf"{NO_AM}{VERY}(?:half |part )?(?P<value>{PEOPLES}){END}",
        "{who} is {value}.",
        "{who} is not {value}.",
        shape=whole,
        of_others=True,
    ),
    rule(
        "fact",
        "language",
        rf"{NO_DO}(?:am fluent in|speak)(?: fluent| some| a little|"
        rf" good)? (?P<value>{LANGUAGES})\b",
        "{who} speaks {value}.",
        "{who} does not speak {value}.",
        shape=whole,
        of_others=True,
    ),
    rule(
        "fact",
        "learning",
        r"(?:am|have (?:just )?started|started|have been) (?:currently |"
        r"just )?learning(?: how)?(?: about)?(?: to (?:speak|play))? (?P<value>.+)",
        "{who} is learning {value}.",
        of_others=True,
    ),
    rule(
        "fact",
        "learning",
        r"am (?:currently |now )?(?:taking|having) (?P<value>(?:[\w-]+ ){1,3})(?:lessons|"
        r"classes)\b",
        "{who} is taking {value} lessons.",
        shape=thing,
    ),
    rule(
        "fact",
        "religion",
        rf"{NO_AM}{VERY}(?P<value>{FAITHS}){END}",
        "{who} is {value}.",
        "{who} is not {value}.",
        shape=whole,
        of_others=True,
    ),
    rule(
        "fact",
        "trait",
        rf"{NO_AM}{VERY}(?P<value>{TRAITS}){END}",
        "{who} is {value}.",
        "{who} is not {value}.",
        shape=whole,
    ),
    # Where they live
    rule(
        "fact",
        "home",
        rf"{NO_DO}(?:live|am living|reside|am based|have been living)(?: here| alone|"
        rf" together)? in {REST}",
        "{who} lives in {value}.",
        "{who} does not live in {value}.",
        shape=place,
        of_others=True,
    ),
    rule(
        "fact",
        "home",
        rf"am (?P<no>not |no longer )(?:living|based) in {REST}",
        "{who} lives in {value}.",
        "{who} does not live in {value}.",
        shape=place,
        of_others=True,
    ),
    rule(
        "fact",
        "home",
        r"have (?:always )?lived in (?P<value>.+?)(?= (?:for|since|all my|my whole)\b)",
        "{who} lives in {value}.",
        shape=place,
        of_others=True,
    ),
    rule(
        "fact",
        "home",
        r"(?:have |had )?(?:just |recently |finally )?(?:(?:moved|relocated)(?: back| out| over|"
        r" again)?(?: here)?(?: from [A-Z][\w'-]+)? to|settled(?: down)? in) (?P<value>.+)",
        "{who} lives in {value}.",
        shape=place,
        of_others=True,
    ),
    rule(
        "fact",
        "past_home",
        rf"(?:used to live|lived|was living) in {REST}",
        "{who} used to live in {value}.",
        shape=place,
        of_others=True,
    ),
    rule(
        "fact",
        "past_home",
        r"(?:have |had )?(?:just |recently )?moved(?: here| away)? from (?P<value>.+)",
        "{who} used to live in {value}.",
        shape=place,
        of_others=True,
    ),
    rule(
        "plan",
        "move",
        r"(?:am|will be) (?:moving|relocating)(?: back| out)? to (?P<value>.+)",
        "{who} is moving to {value}.",
        shape=place,
        of_others=True,
    ),
    # What they do
    rule(
        "fact",
        "job",
        rf"(?:work|am working|have been working)(?: (?:full|part)[- ]time)? as {REST}",
        "{who} works as {a_value}.",
        shape=occupation,
        of_others=True,
    ),
    rule(
        "fact",
        "job",
        rf"{NO_AM}(?:now )?(?:an?|the) (?P<value>(?:(?:[a-z-]+|"
        rf"[A-Z]{{2,4}}) ){{0,2}}(?:{JOBS})){END}",
        "{who} is {a_value}.",
        "{who} is not {a_value}.",
        shape=known_occupation,
        of_others=True,
    ),
    rule(
        "fact",
        "job",
        r"(?:have )?(?:just |recently |finally )?(?:got|landed|found|started|took|accepted|"
        r"have started) (?:an? )?(?:new )?(?:job|position|role) as (?P<value>.+)",
        "{who} works as {a_value}.",
        shape=occupation,
        of_others=True,
    ),
    rule(
        "fact",
        "job",
        rf"(?:have )?(?:became|become) an? (?P<value>(?:[a-z-]+ ){{0,2}}(?:{JOBS})){END}",
        "{who} is {a_value}.",
        shape=occupation,
        of_others=True,
    ),
    rule(
        "fact",
        "job",
        r"(?:have )?(?:just |recently )?(?:got|been|was|have been|"
        r"have just been) promoted to (?:the (?:position|role|post) of )?(?P<value>.+)",
        "{who} is {a_value}.",
        shape=occupation,
        of_others=True,
    ),
    rule(
        "fact",
        "past_job",
        r"(?:used to (?:work as|be)|worked as) (?P<value>an? .+)",
        "{who} used to be {a_value}.",
        shape=known_occupation,
        of_others=True,
    ),
    rule(
        "fact",
        "employer",
        rf"{NO_DO}(?:work|am working|have been working)(?: (?:full|"
        rf"part)[- ]time)?(?: as (?:an? )?[\w -]{{2,40}}?)? (?:at|for) {REST}",
        "{who} works at {value}.",
        "{who} does not work at {value}.",
        shape=organisation,
        of_others=True,
    ),
    rule(
        "fact",
        "employer",
        r"(?:have )?(?:just |recently |finally )?(?:got|landed|found|started|start|took|"
        r"accepted) (?:an? |the |my )?(?:new )?(?:job|position|role|"
        r"internship)(?: as (?:an? )?[\w -]{2,40}?)? (?:at|with) (?P<value>.+)",
        "{who} works at {value}.",
        shape=organisation,
        of_others=True,
    ),
    rule(
        "fact",
        "employer",
        r"(?:have )?(?:just |recently )?started (?:at|with) (?P<value>[A-Z].+)",
        "{who} works at {value}.",
        shape=organisation,
        of_others=True,
    ),
    rule(
        "fact",
        "past_employer",
        r"(?:used to work|worked) (?:at|for) (?P<value>.+)",
        "{who} used to work at {value}.",
        shape=organisation,
        of_others=True,
    ),
    rule(
        "fact",
        "past_employer",
        r"(?:have )?(?:just |recently )?(?:(?:quit|left|lost) my (?:job|position|role) (?:at|"
        r"with)|resigned from|(?:got|was) (?:fired|laid off) (?:from|by)) (?P<value>[A-Z].+)",
        "{who} used to work at {value}.",
        shape=organisation,
    ),
    rule(
        "fact",
        "employment",
        r"(?:have )?(?:just |recently |finally )?(?:quit|left|resigned from) my (?:\w+ )?(?:job|"
        r"position|role)\b",
        "{who} quit their job.",
        fixed="quit their job",
        of_others=True,
    ),
    rule(
        "fact",
        "employment",
        r"(?:have )?(?:just |recently )?(?:lost my (?:\w+ )?job|(?:got|was|been) (?:fired|"
        r"laid off|made redundant|let go))\b",
        "{who} lost their job.",
        fixed="lost their job",
        of_others=True,
    ),
    rule(
        "fact",
        "employment",
        r"(?:have )?(?:just |recently |finally )?(?:got|landed|found|started) a new (?:job|"
        r"position|role)\b",
        "{who} got a new job.",
        fixed="new job",
        of_others=True,
    ),
    rule(
        "fact",
        "employment",
        rf"(?:am|have)(?: \w+ly)? retired{END}|retired (?:last|this|in|from|two|"
        r"a few|early|\w+ years ago)\b",
        "{who} is retired.",
        fixed="retired",
        of_others=True,
    ),
    rule(
        "fact",
        "employment",
        rf"am (?:(?P<value>unemployed|self-employed|freelancing){END})",
        "{who} is {value}.",
        shape=whole,
        of_others=True,
    ),
    rule(
        "fact",
        "employment",
        r"am (?:between jobs|out of work|looking for (?:a|another|a new) job|job[- ]hunting)\b",
        "{who} is looking for a job.",
        fixed="looking for a job",
        of_others=True,
    ),
    rule(
        "fact",
        "studies",
        r"(?:study|am studying|am majoring in|major in|am doing (?:an? )?(?:PhD|"
        rf"master's|masters|degree|bachelor's) in) {REST}",
        "{who} studies {value}.",
        shape=studies,
        of_others=True,
    ),
    rule(
        "fact",
        "school",
        r"(?:study|am studying|go|am a student|am studying [\w ]{2,30}|study [\w ]{2,30}) (?:at|"
        r"to) (?P<value>(?:the )?(?:[A-Z][\w'-]+ (?:of )?){0,4}(?:University|College|Institute|"
        r"School|Academy|MIT|UCLA|Stanford|Harvard|Oxford|Cambridge|Yale)(?: of [A-Z][\w'-]+)?)",
        "{who} studies at {value}.",
        shape=whole,
        of_others=True,
    ),
    rule(
        "fact",
        "degree",
        r"(?:have|hold|did|got|have got|earned|finished|completed) (?:an?|my) (?:PhD|doctorate|"
        r"master's|masters|degree|bachelor's|bachelors|diploma|"
        rf"MBA)(?: degree)? in {REST}",
        "{who} has a degree in {value}.",
        of_others=True,
    ),
    rule(
        "fact",
        "degree",
        rf"(?:have )?(?:just |recently )?graduated (?:in|with (?:a|my) (?:\w+ )?degree in) {REST}",
        "{who} has a degree in {value}.",
        of_others=True,
    ),
    # Body and table
    rule(
        "fact",
        "allergy",
        rf"{NO_AM}(?:\w+ )?allergic to {REST}",
        "{who} is allergic to {value}.",
        "{who} is not allergic to {value}.",
        of_others=True,
        lists=True,
    ),
    rule(
        "fact",
        "allergy",
        r"have (?:an? )?(?:severe |bad |mild |serious )?(?P<value>(?!an?\b|the\b|my\b|severe|bad|"
        r"mild|some)[a-z]{3,15}) allerg(?:y|ies)\b",
        "{who} is allergic to {value}.",
        shape=whole,
        of_others=True,
        lists=True,
    ),
    rule(
        "fact",
        "allergy",
        rf"have (?:an? )(?:\w+ )?allergy to {REST}",
        "{who} is allergic to {value}.",
        of_others=True,
        lists=True,
    ),
    rule(
        "fact",
        "allergy",
        r"am (?P<value>lactose|gluten|histamine|fructose)[- ]intolerant\b",
        "{who} is {value} intolerant.",
        shape=whole,
        of_others=True,
        lists=True,
    ),
    rule(
        "fact",
        "diet",
        rf"{NO_AM}{VERY}(?:an? )?(?:strict )?(?P<value>{DIETS}){END}",
        "{who} is {value}.",
        "{who} is not {value}.",
        shape=whole,
        of_others=True,
    ),
    rule(
        "fact",
        "diet",
        r"(?:have )?(?:just |recently )?(?:went|gone|became|become|turned) (?:an? "
        rf")?(?P<value>{DIETS}){END}",
        "{who} is {value}.",
        shape=whole,
        of_others=True,
    ),
    rule(
        "fact",
        "diet",
        rf"am on (?:an? |the )?(?P<value>{DIETS}|low-carb|mediterranean|vegan) diet\b",
        "{who} is on a {value} diet.",
        shape=whole,
        of_others=True,
    ),
    rule(
        "fact",
        "diet",
        r"(?:do not|no longer|never|have stopped|stopped|cannot) eat(?:ing)? (?P<value>(?:red "
        r"|any )?(?:meat|pork|beef|gluten|dairy|fish|seafood|sugar|eggs|bread|shellfish))\b",
        "{who} does not eat {food}.",
        shape=lambda rest: "no " + rest.removeprefix("any "),
        of_others=True,
    ),
    rule(
        "fact",
        "habit",
        r"(?:have )?(?:just |recently |finally )?(?:quit|gave up|given up|"
        r"stopped) (?P<value>(?:smoking|drinking|vaping|gambling|coffee|alcohol|caffeine|sugar|"
        r"cigarettes|smoking weed|biting my nails|drinking (?:coffee|alcohol)))\b",
        "{who} does {value}.",
        "{who} has given up {value}.",
        shape=whole,
        of_others=True,
        holds=False,
    ),
    rule(
        "fact",
        "habit",
        r"(?P<no>do not |no longer |never )(?P<value>smoke|drink|drink (?:alcohol|"
        rf"coffee)|vape|gamble|drive|cook|dance){END}",
        "{who} does {value}.",
        "{who} does not {value}.",
        shape=whole,
        of_others=True,
    ),
    rule(
        "fact",
        "habit",
        r"(?:go|have started going|started going) (?P<value>running|swimming|hiking|climbing|"
        r"jogging|cycling|surfing|fishing|camping|dancing|bouldering)\b(?= (?:every|each|"
        r"on \w+days|once|twice|\w+ times|daily|regularly|most))",
        "{who} regularly goes {value}.",
        shape=whole,
        of_others=True,
    ),
    rule(
        "fact",
        "health",
        r"(?:have|suffer from|have been diagnosed with|was diagnosed with|got diagnosed with|"
        r"struggle with|live with) (?:bad |severe |mild |chronic "
        rf")?(?P<value>{AILMENTS})\b(?! (?:about|over|for|at|when|attack))",
        "{who} has {value}.",
        shape=whole,
        of_others=True,
    ),
    rule(
        "fact",
        "health",
        r"(?:have )?(?:just |recently )?(?:broke|broken|sprained|fractured|"
        r"tore) my (?P<value>(?:left |right )?(?:leg|arm|wrist|ankle|foot|toe|finger|hand|"
        r"collarbone|nose|hip|rib|acl|knee))\b",
        "{who} has an {value}.",
        shape=lambda rest: "injured " + rest,
        of_others=True,
    ),
    rule(
        "fact",
        "expecting",
        r"am (?:\w+ (?:weeks|months) )?(?P<value>pregnant|expecting a (?:baby|"
        rf"child|boy|girl)|expecting twins){END}",
        "{who} is {value}.",
        shape=whole,
        of_others=True,
    ),
    # Who and what is theirs
    rule(
        "fact",
        "relationship",
        rf"{NO_AM}(?:happily |recently |newly |already |still )?(?P<value>married|single|divorced|"
        rf"engaged|widowed|separated){END}",
        "{who} is {value}.",
        "{who} is not {value}.",
        shape=whole,
        of_others=True,
    ),
    rule(
        "fact",
        "relationship",
        rf"am {ADVERBS}(?P<value>dating {NAME}|in a relationship){END}",
        "{who} is {value}.",
        shape=whole,
        of_others=True,
    ),
    rule(
        "fact",
        "relationship",
        r"am (?:happily )?(?P<value>married|engaged) to [A-Z]",
        "{who} is {value}.",
        shape=whole,
        of_others=True,
    ),
    rule(
        "fact",
        "relationship",
        r"(?:have )?(?:just |recently |finally )?(?:got|gotten|have been) (?P<value>married|"
        r"divorced|engaged)\b",
        "{who} is {value}.",
        shape=whole,
        of_others=True,
    ),
    rule(
        "fact",
        "children",
        r"have (?:got )?(?P<value>(?:no|an?|one|two|three|four|five|six|seven|\d|"
        r"twin) (?:(?:little|young|grown|small|beautiful|wonderful|lovely|teenage|"
        rf"adult|grown-up) )?(?:{CHILDREN}))\b(?! in )",
        "{who} has {value}.",
        shape=number,
        of_others=True,
    ),
    rule(
        "fact",
        "children",
        r"(?P<no>do not )have (?P<value>(?:any )?(?:kids|children))\b",
        "{who} has {value}.",
        "{who} has no children.",
        shape=lambda rest: "children",
        of_others=True,
    ),
    rule(
        "fact",
        "siblings",
        rf"have (?:got )?(?P<value>{COUNT} (?:(?:older|younger|little|big|half|step|"
        rf"twin) ){{0,2}}(?:{SIBLINGS}))\b(?! (?:named|called))",
        "{who} has {value}.",
        shape=number,
        of_others=True,
    ),
    rule(
        "fact",
        "siblings",
        r"am an only child\b",
        "{who} is an only child.",
        fixed="only child",
        of_others=True,
    ),
    rule(
        "fact",
        "pet",
        r"(?P<no>do not |no longer )?(?:have|have got|own|have adopted|adopted|got|have rescued|"
        r"rescued|just got|just adopted|have just adopted) (?:myself "
        rf")?(?P<value>{COUNT} (?:(?!and |or |of |at |for |in |to |with |named "
        rf"|called |family )[a-z-]+ ){{0,3}}(?:{PETS}))\b(?! (?:person|lover|shelter|"
        r"toy|show|food|park|sitter|shop|store|cafe|pic|photo|picture|video|tattoo|costume|treat))",
        "{who} has {value}.",
        "{who} does not have {value}.",
        shape=lambda rest: number(rest) if not POINTS_OUTSIDE.search(rest) else "",
        of_others=True,
    ),
    rule(
        "fact",
        "possession",
        r"(?P<no>do not |no longer )?(?:have|have got|own|bought|have bought|just bought|"
        r"have just bought|opened|have opened|started|run|own and run) (?:myself )?(?P<value>an? "
        r"(?:(?!and |or |of |at |for |in |to |with |who |"
        rf"that |lot )[\w-]+ ){{0,3}}(?:{OWNED}))(?=\s*(?:$|[,.;!?)]| (?:and|but|so|now|"
        r"in|on|at|with|by|near|last|this|where|called|named)\b))",
        "{who} has {value}.",
        "{who} does not have {value}.",
        shape=lambda rest: rest if not POINTS_OUTSIDE.search(rest) else "",
        of_others=True,
    ),
    rule(
        "fact",
        "possession",
        r"(?:have |have just |just )?(?:bought|own|got myself|have got|have|got) (?P<value>(?:an?|"
        r"my) (?:brand[- ])?new [\w' -]+)",
        "{who} has {value}.",
        shape=owned,
        of_others=True,
    ),
    rule(
        "fact",
        "possession",
        r"(?:have |have just |just )?(?:bought|own|got myself) (?P<value>an? [\w' -]+)",
        "{who} has {value}.",
        shape=owned,
        of_others=True,
    ),
    rule(
        "fact",
        "life",
        r"(?:have )?(?:passed away|died)\b",
        "{who} has died.",
        fixed="died",
        of_others=True,
    ),
    # What they have done
    rule(
        "fact",
        "visited",
        r"(?:have )?(?:just |recently )?(?:visited|went to|been to|travelled to|traveled to|"
        r"took a trip to|flew to|came back from|got back from|returned "
        rf"from) {REST}",
        "{who} visited {value}.",
        shape=place,
        of_others=True,
    ),
    rule(
        "fact",
        "member_of",
        r"(?:have )?(?:just |recently )?(?:joined|am a member of|am part of|"
        r"belong to) (?P<value>(?:an?|the) .+)",
        "{who} is a member of {value}.",
        shape=group,
        of_others=True,
    ),
    rule(
        "fact",
        "volunteers",
        r"(?:volunteer|am volunteering|have been volunteering|have started volunteering|"
        rf"started volunteering) (?:at|with|for) {REST}",
        "{who} volunteers at {value}.",
        shape=some_place,
        of_others=True,
    ),
    rule(
        "fact",
        "activity",
        r"(?:have )?(?:just |recently )?(?:took up|taken up|picked up|gotten into|"
        rf"got into) {REST}",
        "{who} has taken up {value}.",
        shape=pastime,
        of_others=True,
    ),
    rule(
        "fact",
        "activity",
        r"(?:have )?(?:just |recently )?started (?:playing|practi[cs]ing|doing|"
        rf"training in) {REST}",
        "{who} has taken up {value}.",
        shape=pastime,
        of_others=True,
    ),
    rule(
        "fact",
        "past_activity",
        r"used to (?P<value>(?:play|practi[cs]e|do) .+)",
        "{who} used to {value}.",
        shape=pastime,
        of_others=True,
    ),
    rule(
        "fact",
        "employer",
        rf"am (?:currently )?(?:interning|doing an internship) (?:at|with|for) {REST}",
        "{who} is an intern at {value}.",
        shape=organisation,
        of_others=True,
    ),
    rule(
        "fact",
        "activity",
        r"(?:have )?(?:just |recently )?signed up for (?P<value>.+)",
        "{who} signed up for {value}.",
        of_others=True,
    ),
    rule(
        "fact",
        "activity",
        r"have been (?P<value>[a-z]+ing [\w' -]+?)(?= (?:for (?:about |over |almost "
        r"|more than |around )?(?:\w+|\d+) (?:years|months|weeks)|since (?:\w+|\d{4}))\b)",
        "{who} has been {value}.",
        of_others=True,
    ),
    rule(
        "fact",
        "teaches",
        r"(?:teach|am teaching) (?P<value>.+)",
        "{who} teaches {value}.",
        shape=studies,
        of_others=True,
    ),
    rule(
        "fact",
        "achievement",
        r"(?:have )?(?:just |recently |finally )?(?P<value>(?:won|published|passed|graduated from|"
        r"got accepted (?:to|into)|got into|ran) (?:an?|the|my|first|second|third|[A-Z]) ?.+)",
        "{who} {value}.",
        shape=feat,
        of_others=True,
    ),
    rule(
        "fact",
        "achievement",
        rf"(?:have )?(?:just |recently |finally )?(?P<value>graduated){END}",
        "{who} graduated.",
        shape=whole,
        of_others=True,
    ),
    # What they like
    rule(
        "preference",
        "likes",
        rf"am an? (?:{VERY}(?:big|huge|massive|avid|lifelong|great|"
        rf"die-hard) )+(?P<value>[\w' -]{{3,40}}?) (?:fan|lover|enthusiast|buff|nerd)\b(?! of)",
        "{who} is {a_value} fan.",
        of_others=True,
        lists=True,
    ),
    rule(
        "preference",
        "likes",
        rf"{NO_DO}{VERY}(?:love|like|enjoy|adore) {REST}",
        "{who} likes {value}.",
        "{who} does not like {value}.",
        shape=liked,
        of_others=True,
        lists=True,
    ),
    rule(
        "preference",
        "likes",
        rf"{NO_AM}{VERY}(?:an? )?(?:{VERY}(?:big |huge |massive |avid |lifelong "
        r"|great |die-hard ))*(?:fan of|into|keen on|fond of|obsessed with|passionate "
        rf"about|crazy about|mad about|interested in) {REST}",
        "{who} likes {value}.",
        "{who} does not like {value}.",
        shape=liked,
        of_others=True,
        lists=True,
    ),
    rule(
        "preference",
        "dislikes",
        rf"{VERY}(?:hate|dislike|cannot stand|detest|despise|loathe|cannot bear|"
        rf"cannot tolerate) {REST}",
        "{who} dislikes {value}.",
        shape=liked,
        of_others=True,
        lists=True,
    ),
    rule(
        "preference",
        "prefers",
        r"prefer (?P<value>.+)",
        "{who} prefers {value}.",
        shape=liked,
        of_others=True,
    ),
    rule(
        "preference",
        "plays",
        rf"{NO_DO}play (?:the )?(?P<value>{INSTRUMENTS_AND_GAMES})\b",
        "{who} plays {value}.",
        "{who} does not play {value}.",
        shape=whole,
        of_others=True,
    ),
    rule(
        "preference",
        "collects",
        r"collect (?P<value>.+)",
        "{who} collects {value}.",
        of_others=True,
    ),
    # What they are about to do
    rule(
        "plan",
        "plan",
        rf"am {ADVERBS}going to (?!the\b|a\b|an\b|my\b|our\b|bed\b|some\b|work\b|"
        r"school\b|[A-Z])(?P<value>.+)",
        "{who} is going to {value}.",
        shape=doing,
        of_others=True,
    ),
    rule(
        "plan",
        "plan",
        r"am (?:going|off|flying|travell?ing) to (?P<value>(?:the|a|an|my|our|[A-Z]).+)",
        "{who} plans to {value}.",
        shape=going,
    ),
    rule(
        "plan",
        "plan",
        r"am (?:not|no longer) (?:going|flying|travell?ing) to (?P<value>[A-Z].+)",
        "{who} plans to {value}.",
        "{who} does not plan to {value}.",
        shape=going,
        holds=False,
    ),
    rule(
        "plan",
        "plan",
        r"(?:plan|am planning|have decided|decided|intend) to (?P<value>.+)",
        "{who} plans to {value}.",
        shape=doing,
        of_others=True,
    ),
    rule(
        "plan",
        "plan",
        r"(?:am planning|plan) on (?P<value>\w+ing .+)",
        "{who} plans on {value}.",
        shape=doing,
    ),
    rule(
        "plan",
        "plan",
        r"am planning (?P<value>an? .+)",
        "{who} is planning {value}.",
        shape=doing,
    ),
    rule(
        "plan",
        "plan",
        rf"will (?P<value>(?:be )?[a-z]+ .*\b{FUTURE}.*)",
        "{who} will {value}.",
        shape=doing,
    ),
    rule(
        "plan",
        "plan",
        r"am (?P<value>(?!going|moving|relocating|planning|looking|thinking|hoping|"
        rf"feeling|getting|trying)[a-z]+ing .*\b{FUTURE}.*)",
        "{who} is {value}.",
        shape=doing,
    ),
    rule(
        "plan",
        "plan",
        r"am (?:(?:applying|signing up|signed up|saving(?: up)?|training) (?P<value>for .+))",
        "{who} is preparing {value}.",
        shape=doing,
    ),
    rule(
        "plan",
        "wants",
        r"(?:want|am hoping|hope|have always wanted) to (?P<value>.+)",
        "{who} wants to {value}.",
        shape=wanted,
    ),
)


OF_OTHERS = tuple(rule for rule in RULES if rule.of_others)

# "My favourite colour is blue", "my birthday is on May 2"
POSSESSED: tuple[tuple[str, re.Pattern[str], Callable[[str], str], str], ...] = (
    (
        "name",
        re.compile(rf"[Mm]y (?:full |real |first )?name is (?P<value>{NAME})"),
        place,
        "{who}'s name is {value}.",
    ),
    (
        "birthday",
        re.compile(rf"[Mm]y birthday(?: is|'s)(?: on)? (?P<value>{DATE})"),
        whole,
        "{who}'s birthday is {value}.",
    ),
    (
        "job",
        re.compile(r"[Mm]y (?:job|profession|occupation) is (?P<value>.+)"),
        known_occupation,
        "{who} is {a_value}.",
    ),
    ("hometown", re.compile(r"[Mm]y home ?town is (?P<value>.+)"), place, "{who} is from {value}."),
    (
        "nickname",
        re.compile(rf"[Mm]y nickname is (?P<value>{NAME})"),
        place,
        "{who}'s nickname is {value}.",
    ),
    (
        "language",
        re.compile(rf"[Mm]y (?:native|first) (?:language|tongue) is (?P<value>{LANGUAGES})\b"),
        whole,
        "{who} speaks {value}.",
    ),
    ("studies", re.compile(r"[Mm]y major is (?P<value>.+)"), studies, "{who} studies {value}."),
)
