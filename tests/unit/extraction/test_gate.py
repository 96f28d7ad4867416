# ruff: noqa: RUF001  # letters of other scripts that look like Latin ones are meant
"""What the gate keeps out, why, and what it must let through."""

import pytest

from engine.extraction.gate import gate

JUNK = [
    ("", "empty"),
    ("   \n\t ", "empty"),
    ("...", "empty"),
    ("\x00\x07", "empty"),
    ("😀😀", "emoji"),
    ("👍🏽", "emoji"),
    ("Hi!", "greeting"),
    ("Hey Ada!", "greeting"),
    ("Good morning, Ada", "greeting"),
    ("Hello there :)", "greeting"),
    ("Hola!", "greeting"),
    ("Long time no see!", "greeting"),
    ("Bye!", "farewell"),
    ("See you later, Ada!", "farewell"),
    ("Have a great day!", "farewell"),
    ("Good night", "farewell"),
    ("Thanks!", "thanks"),
    ("Thank you so much, Ada!", "thanks"),
    ("thx", "thanks"),
    ("You\u2019re welcome!", "thanks"),
    ("ok", "acknowledgment"),
    ("Okay, sounds good!", "acknowledgment"),
    ("Yeah, sure.", "acknowledgment"),
    ("I see.", "acknowledgment"),
    ("Got it", "acknowledgment"),
    ("Me too!", "acknowledgment"),
    ("haha", "filler"),
    ("Hmm...", "filler"),
    ("Wow, that's amazing!", "filler"),
    ("lol", "filler"),
    ("Oh no!", "filler"),
    ("Congrats, Ada!", "filler"),
    ("How are you?", "small_talk"),
    ("What's up?", "small_talk"),
    ("And you?", "small_talk"),
    ("What did you do today?", "question"),
    ("Do you like jazz?", "question"),
    ("Can you help me?", "question"),
    ("Why did you pick that colour?", "question"),
    ("Blue.", "too_short"),
]

WORTH_KEEPING = [
    "I moved to Lisbon.",
    "Did I tell you my sister got married?",
    "Did you hear that Ana moved to Berlin?",
    "Do you think I should take the job in Porto?",
    "Could you remind me to call the dentist about the crown on Friday?",
    "Remember when we got lost in Sintra?",
    "The meeting is on Friday.",
    "Thanks to Ana we found the keys.",
    "Hi-fi shops are all closing.",
    "Good morning rituals matter a lot to her.",
    "昨天我去了海边",
    "Hast du gewusst, dass meine Schwester geheiratet hat?",
]


@pytest.mark.parametrize(("content", "reason"), JUNK)
def test_junk_stays_out_and_the_reason_is_told(content: str, reason: str) -> None:
    gated = gate(content)

    assert gated.content == ""
    assert gated.left_out[0] == reason


@pytest.mark.parametrize("content", WORTH_KEEPING)
def test_what_carries_information_passes(content: str) -> None:
    assert gate(content).content == content


@pytest.mark.parametrize(
    ("content", "kept"),
    [
        ("Hi Ada! I moved to Lisbon.", "I moved to Lisbon."),
        ("Wow! Thanks. I found the keys. Bye!", "I found the keys."),
        (
            "I found the keys. Haha. They were in the car.",
            "I found the keys. Haha. They were in the car.",
        ),
        ("I found the keys. Where were yours?", "I found the keys. Where were yours?"),
        ("Hey!\nI moved.\nTo Lisbon, that is.", "I moved.\nTo Lisbon, that is."),
    ],
)
def test_junk_is_cut_off_at_both_ends_only(content: str, kept: str) -> None:
    assert gate(content).content == kept


def test_a_question_beside_a_statement_is_counted_and_not_read_for_statements() -> None:
    gated = gate("I found the keys. Where were yours?")

    assert gated.kept == ("I found the keys.",)
    assert gated.left_out == ("question",)


def test_every_reason_is_told_once() -> None:
    assert gate("Hi! Hello! Thanks! Thanks!").left_out == ("greeting", "thanks")


@pytest.mark.spec("CAND-07")
@pytest.mark.parametrize(
    "content",
    [
        "Guten Tag, wie geht es Ihnen?",
        "Hallo zusammen!",
        "Guten Morgen, Ada!",
        "Vielen Dank, bis morgen!",
        "こんにちは！",
        "おはようございます。お元気ですか？",
        "ありがとうございます。",
        "Bonjour, comment allez-vous ?",
        "¡Hola! ¿Cómo estás?",
        "Buongiorno! Come va?",
        "Olá, tudo bem?",
        "Dzień dobry!",
        "Dobrý den, jak se máš?",
        "Добрый день! Как дела?",
        "Καλημέρα!",
        "Merhaba, nasılsın?",
        "السلام عليكم",
        "שלום, מה נשמע?",
        "नमस्ते। आप कैसे हैं?",
        "สวัสดีครับ",
        "你好！你好吗？",
        "안녕하세요",
        "Xin chào",
        "Selamat pagi",
        "God morgon!",
        "Hyvää huomenta",
        "Jó napot kívánok!",
    ],
)
def test_courtesies_stay_out_in_any_language(content: str) -> None:
    assert gate(content).content == ""


@pytest.mark.parametrize(
    "content",
    [
        "Guten Morgen, ich wohne jetzt in Berlin.",
        "こんにちは、私はリスボンに住んでいます。",
        "नमस्ते, मैं लिस्बन में रहता हूँ।",
        "ฉันอาศัยอยู่ในลิสบอนมาสามปีแล้ว",
        "你好，我在里斯本住了三年。",
    ],
)
def test_a_courtesy_in_front_of_content_costs_nothing(content: str) -> None:
    assert gate(content).content == content
