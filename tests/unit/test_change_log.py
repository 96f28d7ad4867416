"""Every statement that changes what recall reads of an item logs it, or its transaction does."""

import re

import pytest

import cypher
from tests.changes import CONTENT, STATE
from tests.unit.test_statements import NAMES

# A transaction of several statements logs once, as the last thing it does.
LOGGED_BY_CALLER = {
    "memory/facts/settle_facts": "returns the facts that changed, to all that run it",
    "memory/memories/archive_memory": "update_memory logs after it has settled facts",
    "memory/memories/minimize_memory": "update_memory logs after it has settled facts",
    "memory/memories/unarchive_memory": "update_memory logs after it has settled facts",
    "night/distillation/form_theme": "record_step logs what a step has changed",
    "night/distillation/join_theme": "record_step logs what a step has changed",
    "night/fading/archive_memories": "record_step logs what a step has changed",
    "night/fading/decay_importance": "record_step logs what a step has changed",
    "night/fading/prune_links": "record_step logs what a step has changed",
    "night/fading/strengthen_links": "record_step logs what a step has changed",
    "night/integration/form_memories": "record_step logs what a step has changed",
    "night/integration/merge_candidates": "record_step logs what a step has changed",
    "night/linking/add_links": "record_step logs what a step has changed",
    "night/undo/recompute_weights": "record_undone_step logs what the undo has changed",
    "night/undo/undo_archive": "record_undone_step logs what the undo has changed",
    "night/undo/undo_decay": "record_undone_step logs what the undo has changed",
    "night/undo/undo_distil": "record_undone_step logs what the undo has changed",
    "night/undo/undo_form": "record_undone_step logs what the undo has changed",
    "night/undo/undo_join": "record_undone_step logs what the undo has changed",
    "night/undo/undo_link": "record_undone_step logs what the undo has changed",
    "night/undo/undo_merge": "record_undone_step logs what the undo has changed",
    "night/undo/undo_pass_over": "record_undone_step logs what the undo has changed",
    "night/undo/undo_prune": "record_undone_step logs what the undo has changed",
    "night/undo/undo_redraw": "record_undone_step logs what the undo has changed",
    "night/undo/undo_strengthen": "record_undone_step logs what the undo has changed",
    "memory/shapes/relearn_shape": "settle_relearned logs after it has withdrawn shapes",
    "memory/shapes/withdraw_shapes": "returns what it has changed, to all that run it",
    "night/shapes/draw_shape": "record_step logs what a step has changed",
}
# These log what other statements have changed.
LOGS_FOR_OTHERS = {
    "memory/changes/log_changes",
    "night/runs/record_step",
    "night/undo/record_undone_step",
}

# Variables that hold something else than an item and have a property of the same name.
OTHERS = (
    "message|copy|run|persona|conversation|made|checkpoint|flag|recall|recent|acknowledgment|event"
)
PROPERTIES = "|".join((*CONTENT, *STATE, "strength"))
CHANGES = [
    re.compile(pattern)
    for pattern in (
        rf"(?<![\w.$])(?!(?:{OTHERS})\.)[\w()\[\]]+\.(?:{PROPERTIES}) =\s",
        rf"(?<![\w.$])(?!(?:{OTHERS}|step|own|provider|instance|key|tenant|token) )\w+ \+=",
        r"(?:CREATE|MERGE)[^{}]*\(\w*:(?:Candidate|Memory)\b",
        r"(?:CREATE|MERGE)\s*\(\w+\)-\[\w*:(?:EXTENDS|\$\()",
        r"DELETE (?:item|candidate|memory|theme|link|extends)\b",
    )
]
NEVER_CHANGE = ("embedding/", "store/")  # they make indexes over items


def written(name: str) -> str:
    """The clauses of a statement that write, without comments."""
    lines = [re.sub(r"//.*", "", line) for line in cypher.statement(name).splitlines()]
    clauses = re.split(
        r"\b(?=(?:SET|REMOVE|CREATE|MERGE|DELETE|DETACH|ON CREATE)\b)", "\n".join(lines)
    )
    return "\n".join(
        re.split(r"\b(?:MATCH|WITH|RETURN|UNWIND|WHERE|CALL)\b", clause)[0]
        for clause in clauses[1:]
    )


def changes_items(name: str) -> bool:
    if name.startswith(NEVER_CHANGE):
        return False
    return any(pattern.search(written(name)) for pattern in CHANGES)


@pytest.mark.parametrize("name", NAMES)
def test_a_statement_that_changes_items_logs_it(name: str) -> None:
    logs = "// fragment: log_changes" in cypher.statement(name)

    if name in LOGGED_BY_CALLER:
        assert changes_items(name)
        assert not logs
    elif name not in LOGS_FOR_OTHERS:
        assert logs == changes_items(name)


@pytest.mark.parametrize(
    "name", [name for name in NAMES if "// fragment: log_changes" in cypher.statement(name)]
)
def test_the_lock_of_the_log_is_the_last_that_is_taken(name: str) -> None:
    _, _, after = cypher.statement(name).partition("// end: log_changes")

    assert not re.search(r"\b(SET|CREATE|MERGE|REMOVE|DELETE)\b", re.sub(r"//.*", "", after))
