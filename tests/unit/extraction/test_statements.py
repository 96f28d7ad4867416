"""What counts as a statement, which attribute it gets, and what must never become one."""

import pytest

from engine.extraction.attributes import OPPOSITES, SINGLE_VALUED, is_single_valued
from engine.extraction.rules import load_language
from engine.extraction.statements import Statement, statements
from engine.text import sentences


def stated(content: str, speaker: str = "Sam") -> list[Statement]:
    english = load_language("english")
    assert english
    return statements(sentences(content), speaker, english)


# What Sam says, the attribute and the value.
FACTS = [
    # home
    ("I live in Lisbon.", "home", "Lisbon"),
    ("I live in Porto now", "home", "Porto"),
    ("i live in lisbon", "home", "lisbon"),
    ("I\u2019m living in S\u00e3o Paulo these days.", "home", "São Paulo"),
    ("I just moved to Porto.", "home", "Porto"),
    ("I've moved back to Évora.", "home", "Évora"),
    ("We relocated from Bonn to Rio de Janeiro last year.", "home", "Rio de Janeiro"),
    ("I have lived in Berlin for ten years.", "home", "Berlin"),
    ("I'm based in New York.", "home", "New York"),
    ("Oh, by the way, I moved to the Netherlands!", "home", "the Netherlands"),
    ("As I told you before, I live in Graz.", "home", "Graz"),
    ("My girlfriend and I moved to Leipzig.", "home", "Leipzig"),
    ("I used to live in Madrid.", "past_home", "Madrid"),
    ("I lived in Rome for two years.", "past_home", "Rome"),
    ("I moved here from Oslo.", "past_home", "Oslo"),
    ("We are moving to Canada.", "move", "Canada"),
    # who they are
    ("My name is Tomás.", "name", "Tomás"),
    ("Please call me Tom.", "name", "Tom"),
    ("I'm 34 years old.", "age", "34"),
    ("I'm 34.", "age", "34"),
    ("I just turned thirty-one.", "age", "thirty-one"),
    ("My birthday is on May 2.", "birthday", "May 2"),
    ("I was born on 2nd of May.", "birthday", "2nd of May"),
    ("I was born in 1990.", "birth_year", "1990"),
    ("I was born in Braga.", "birthplace", "Braga"),
    ("I grew up in Recife.", "hometown", "Recife"),
    ("I'm originally from Brazil.", "hometown", "Brazil"),
    ("I'm Portuguese.", "nationality", "Portuguese"),
    ("I speak Portuguese.", "language", "Portuguese"),
    ("My native language is Welsh.", "language", "Welsh"),
    ("I'm learning Japanese.", "learning", "Japanese"),
    ("I'm learning to play the cello.", "learning", "the cello"),
    ("I'm Jewish.", "religion", "Jewish"),
    ("I'm an atheist.", "religion", "an atheist"),
    ("I'm left-handed.", "trait", "left-handed"),
    ("I'm an introvert.", "trait", "an introvert"),
    # work and study
    ("I'm a nurse.", "job", "nurse"),
    ("By the way, I'm a software engineer.", "job", "software engineer"),
    ("I work as a nurse at a hospital.", "job", "nurse"),
    ("I became a teacher.", "job", "teacher"),
    ("I got a job as a florist.", "job", "florist"),
    ("I was promoted to head chef.", "job", "head chef"),
    ("I used to be a teacher.", "past_job", "teacher"),
    ("I used to work as a waiter.", "past_job", "waiter"),
    ("I work for Siemens.", "employer", "Siemens"),
    ("I work as a nurse at St. Mary's Hospital.", "employer", "St. Mary's Hospital"),
    ("I work for the city council.", "employer", "the city council"),
    ("I got a new job at Siemens.", "employer", "Siemens"),
    ("I just started at Bosch.", "employer", "Bosch"),
    ("I used to work at Volvo.", "past_employer", "Volvo"),
    ("I quit my job at Acme.", "past_employer", "Acme"),
    ("I got a new job!", "employment", "new job"),
    ("I lost my job.", "employment", "lost their job"),
    ("I retired last year.", "employment", "retired"),
    ("I'm self-employed.", "employment", "self-employed"),
    ("I study biology.", "studies", "biology"),
    ("I'm majoring in art history.", "studies", "art history"),
    ("I study law at the University of Coimbra.", "school", "the University of Coimbra"),
    ("I have a degree in physics.", "degree", "physics"),
    # body and table
    ("I'm allergic to nuts.", "allergy", "nuts"),
    ("I have a peanut allergy.", "allergy", "peanut"),
    ("I'm lactose intolerant.", "allergy", "lactose"),
    ("I'm a vegetarian.", "diet", "vegetarian"),
    ("I\u2019m vegan", "diet", "vegan"),
    ("I went vegan last year.", "diet", "vegan"),
    ("I don't eat meat.", "diet", "no meat"),
    ("I stopped eating pork.", "diet", "no pork"),
    ("I have asthma.", "health", "asthma"),
    ("I was diagnosed with diabetes.", "health", "diabetes"),
    ("I broke my arm.", "health", "injured arm"),
    ("I'm pregnant.", "expecting", "pregnant"),
    ("I go running every morning.", "habit", "running"),
    # who and what is theirs
    ("I'm married.", "relationship", "married"),
    ("I got divorced last year.", "relationship", "divorced"),
    ("So I'm dating Rui now.", "relationship", "dating Rui"),
    ("I'm in a relationship.", "relationship", "in a relationship"),
    ("I have two kids.", "children", "two kids"),
    ("I have an older brother.", "siblings", "an older brother"),
    ("I'm an only child.", "siblings", "only child"),
    ("I have two dogs.", "pet", "two dogs"),
    ("We adopted a kitten.", "pet", "a kitten"),
    ("I own a small bakery.", "possession", "a small bakery"),
    ("I bought a telescope.", "possession", "a telescope"),
    ("I joined a choir.", "member_of", "a choir"),
    ("I volunteer at the animal shelter.", "volunteers", "the animal shelter"),
    ("I've taken up beekeeping.", "activity", "beekeeping"),
    ("I used to play the drums.", "past_activity", "play the drums"),
    ("I went to Iceland last summer.", "visited", "Iceland"),
    ("I won the baking contest.", "achievement", "won the baking contest"),
    ("I passed my driving test!", "achievement", "passed Sam's driving test"),
    ("I collect stamps.", "collects", "stamps"),
    ("I play the piano.", "plays", "piano"),
    # what they like
    ("I love hiking.", "likes", "hiking"),
    ("I really enjoy cooking for friends.", "likes", "cooking for friends"),
    ("I'm a big fan of jazz.", "likes", "jazz"),
    ("I'm into old maps.", "likes", "old maps"),
    ("I'm a huge horror movie fan.", "likes", "horror movie"),
    ("I love the sea.", "likes", "the sea"),
    ("I love my garden.", "likes", "Sam's garden"),
    ("I hate olives.", "dislikes", "olives"),
    ("Honestly, I can't stand loud music.", "dislikes", "loud music"),
    ("I prefer tea to coffee.", "prefers", "tea to coffee"),
    ("My favourite colour is blue.", "favourite colour", "blue"),
    ("My favorite color is green.", "favourite colour", "green"),
    ("Dune is my favourite book.", "favourite book", "Dune"),
    # what they are about to do
    ("I'm going to visit my aunt next month.", "plan", "visit Sam's aunt next month"),
    ("I'm gonna paint the kitchen.", "plan", "paint the kitchen"),
    ("I'm going to Japan next spring.", "plan", "go to Japan next spring"),
    ("I'm planning to learn Greek.", "plan", "learn Greek"),
    ("We have decided to sell the house.", "plan", "sell the house"),
    ("I'll visit my parents next weekend.", "plan", "visit Sam's parents next weekend"),
    ("I want to run a marathon.", "wants", "run a marathon"),
    ("I've always wanted to learn the harp.", "wants", "learn the harp"),
]

DENIED = [
    ("I don't like coriander any more.", "likes", "coriander", "Sam does not like coriander."),
    ("I'm not a fan of musicals.", "likes", "musicals", "Sam does not like musicals."),
    ("I no longer live in Madrid.", "home", "Madrid", "Sam does not live in Madrid."),
    ("I don't live in Oslo anymore.", "home", "Oslo", "Sam does not live in Oslo."),
    ("I'm no longer vegan.", "diet", "vegan", "Sam is not vegan."),
    ("I'm not allergic to cats.", "allergy", "cats", "Sam is not allergic to cats."),
    ("I quit smoking.", "habit", "smoking", "Sam has given up smoking."),
    ("I gave up coffee.", "habit", "coffee", "Sam has given up coffee."),
    ("I don't drink.", "habit", "drink", "Sam does not drink."),
    ("I don't have a car.", "possession", "a car", "Sam does not have a car."),
    ("I don't have kids.", "children", "children", "Sam has no children."),
    ("I'm not married.", "relationship", "married", "Sam is not married."),
    (
        "I'm not going to Seville any more.",
        "plan",
        "go to Seville",
        "Sam does not plan to go to Seville.",
    ),
    ("I don't work at Google.", "employer", "Google", "Sam does not work at Google."),
    ("I'm not a doctor.", "job", "doctor", "Sam is not a doctor."),
    ("I don't speak Danish.", "language", "Danish", "Sam does not speak Danish."),
]

RELATED = [
    ("My sister Ana lives in Berlin.", "sister", "Ana"),
    ("Ana is my sister.", "sister", "Ana"),
    ("Ana's my younger sister.", "sister", "Ana"),
    ("My sister's name is Ana.", "sister", "Ana"),
    ("My sister is called Ana.", "sister", "Ana"),
    ("I have a little sister named Ana.", "sister", "Ana"),
    ("I'm going to the lake with my brother Max.", "brother", "Max"),
    ("My mum Rosa bakes.", "mother", "Rosa"),
    ("My best friend Clara is a doctor.", "best friend", "Clara"),
    ("My coworker Idris is funny.", "colleague", "Idris"),
    ("I'm married to Rui.", "spouse", "Rui"),
    ("My dog Luna is asleep.", "dog", "Luna"),
    ("We've got a black cat named Miso.", "cat", "Miso"),
]

# Nothing may be results of these.
NOT_STATED = [
    # questions
    "Do I like olives?",
    "Did I tell you I live in Lisbon?",
    "I live in Lisbon, right?",
    # hypotheticals, wishes, hedges
    "If I lived in Paris, I'd be happy.",
    "If only I had a dog.",
    "I wish I had a dog.",
    "I would love to live in Japan.",
    "I'd live in Rome any day.",
    "I might move to Spain.",
    "Maybe I'm allergic to cats.",
    "Perhaps I live in the wrong city.",
    "I think I like jazz.",
    "I guess I'm a vegetarian.",
    "Imagine I live in Rome.",
    "Suppose I work at Siemens.",
    "I'm not sure I like olives.",
    "I'm thinking of moving to Norway.",
    "I could be a doctor.",
    "I should go to Japan next year.",
    "I almost moved to Berlin.",
    "I dreamt I had two dogs.",
    # others' words
    'She said "I live in Lisbon".',
    "Ana said I love jazz.",
    "My friend says I hate dogs.",
    "He told me I'm a genius and I love cats.",
    "People think I'm a doctor.",
    "\u201cI hate olives\u201d is what Ana shouted.",
    # values that point outside themselves
    "I love it!",
    "I love you.",
    "I like that.",
    "I hate this one.",
    "I love how you did that.",
    "I like your jacket.",
    "I love her music.",
    "I want to thank you.",
    "I'm going to miss you.",
    "I love novels that end badly.",
    "I like the idea.",
    "I love tinkering with it.",
    'I love "free jazz" nights.',
    # the same verbs for other things
    "I'm a bit tired.",
    "I'm a mess.",
    "I'm a good cook.",
    "I'm a doctor's wife.",
    "I play a doctor in the school play.",
    "I work from home.",
    "I work on it at night.",
    "I live in a small flat.",
    "I moved to a bigger flat.",
    "I moved to Sales.",
    "I'm from Acme Software.",
    "I moved in on Tuesday.",
    "we only settled in today",
    "I'm 5 minutes away.",
    "I'm 100% sure.",
    "I'm going to bed.",
    "I'm going to keep trying.",
    "I have a question.",
    "I have a lot to do.",
    "I have a new idea.",
    "I have never lived in Paris.",
    "I bought a book for my sister.",
    "I have a dog photo for you.",
    "I want to book a table.",
    "I hope we will talk on Friday.",
    "We have three sons in my family.",
    "I left Vienna at dawn.",
    "I passed the church.",
    "I like to.",
    "I hate waiting.",
    "my sister and I",
    "Lisbon is a city.",
    "You live in Lisbon.",
]


@pytest.mark.parametrize(("content", "attribute", "value"), FACTS, ids=[row[0] for row in FACTS])
def test_a_statement_has_one_attribute_whatever_its_wording(
    content: str, attribute: str, value: str
) -> None:
    results = [statement for statement in stated(content) if statement.attribute == attribute]

    assert [statement.value for statement in results] == [value]
    assert all(statement.subject == "Sam" and statement.polarity for statement in results)
    assert all(
        statement.text.startswith("Sam") and statement.text.endswith(".") for statement in results
    )


@pytest.mark.parametrize(
    ("content", "attribute", "value", "text"), DENIED, ids=[row[0] for row in DENIED]
)
def test_a_denied_statement_keeps_its_value_with_negative_polarity(
    content: str, attribute: str, value: str, text: str
) -> None:
    (statement,) = stated(content)

    assert (statement.attribute, statement.value, statement.polarity) == (attribute, value, False)
    assert statement.text == text


@pytest.mark.parametrize(("content", "kin", "name"), RELATED, ids=[row[0] for row in RELATED])
def test_somebody_of_theirs_is_a_relation(content: str, kin: str, name: str) -> None:
    (statement,) = [statement for statement in stated(content) if statement.kind == "relation"]

    assert (statement.subject, statement.attribute, statement.value) == ("Sam", kin, name)
    assert statement.text == f"{name} is Sam's {kin}."


@pytest.mark.parametrize("content", NOT_STATED)
def test_nothing_is_made_of_doubt_hearsay_and_pointing(content: str) -> None:
    assert stated(content) == []


@pytest.mark.parametrize(
    ("content", "subject", "text"),
    [
        ("My sister lives in Berlin.", "Sam's sister", "Sam's sister lives in Berlin."),
        ("My dad works at Volvo.", "Sam's father", "Sam's father works at Volvo."),
        ("My husband is a pilot.", "Sam's husband", "Sam's husband is a pilot."),
        ("My son is 5.", "Sam's son", "Sam's son is 5 years old."),
        ("My mom passed away last year.", "Sam's mother", "Sam's mother has died."),
        (
            "My roommate likes to watch me play.",
            "Sam's roommate",
            "Sam's roommate likes to watch Sam play.",
        ),
        ("My sister doesn't eat meat.", "Sam's sister", "Sam's sister does not eat meat."),
    ],
)
def test_those_near_the_speaker_have_facts_too(content: str, subject: str, text: str) -> None:
    (statement,) = stated(content)

    assert (statement.subject, statement.text) == (subject, text)


def test_a_list_is_several_values() -> None:
    results = stated("I enjoy swimming, old maps and chess.")

    assert [statement.value for statement in results] == ["swimming", "old maps", "chess"]


def test_several_sentences_and_clauses_are_several_statements() -> None:
    results = stated("I'm a nurse, and I live in Porto. I hate olives but I love figs!")

    assert [statement.text for statement in results] == [
        "Sam is a nurse.",
        "Sam lives in Porto.",
        "Sam dislikes olives.",
        "Sam likes figs.",
    ]


def test_the_same_thing_twice_is_stated_once() -> None:
    assert len(stated("I love figs. Really, I love figs!")) == 1


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("I live in Lisbon.", "I just moved to Porto."),
        ("I'm a nurse.", "I work as a florist."),
        ("I work for Siemens.", "I got a new job at Bosch."),
        ("I'm vegan.", "I'm a vegetarian."),
        ("My favourite colour is blue.", "My favorite color is green."),
        ("I'm single.", "I got married!"),
        ("I'm single.", "I'm dating Rui."),
    ],
)
def test_a_changed_fact_has_the_same_subject_and_attribute(old: str, new: str) -> None:
    (before,) = stated(old)
    after = next(statement for statement in stated(new) if statement.attribute == before.attribute)

    assert after.subject == before.subject
    assert after.value != before.value
    assert is_single_valued(after.attribute)


def test_what_there_can_be_many_of_replaces_nothing() -> None:
    for attribute in ("likes", "allergy", "pet", "sister", "language", "plan", "past_home"):
        assert not is_single_valued(attribute)
    for attribute in SINGLE_VALUED:
        assert is_single_valued(attribute)


def test_liking_and_disliking_are_each_others_opposite() -> None:
    assert all(OPPOSITES[other] == one for one, other in OPPOSITES.items())
