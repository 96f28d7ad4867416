"""Every way the engine refuses.

EngineError
├── Invalid                    what was asked for makes no sense
├── Unauthenticated            no key, or not one that is good
├── Forbidden                  the key is good, its role is not enough
├── NotFound                   it never existed, or belongs to another tenant: the same answer
│   ├── PersonaNotFound
│   ├── InstanceNotFound
│   ├── MemberNotFound
│   ├── KeyNotFound
│   ├── ConversationNotFound
│   ├── MessageNotFound
│   ├── CandidateNotFound
│   ├── MemoryNotFound
│   ├── RangeNotFound
│   └── RunNotFound
├── Conflict                   it exists, and its state does not allow this
│   ├── IdTaken
│   ├── LastAdminKey
│   ├── NightUnderWay
│   ├── CandidateClosed
│   ├── RunsAfter
│   ├── NothingToRestore
│   ├── ConfirmationNeeded
│   └── UndoWindowOver
├── Unavailable                a part the engine stands on does not answer; try again
│   ├── GraphUnavailable
│   ├── BrokerUnavailable
│   ├── EmbedderUnavailable
│   └── LlmUnavailable
└── Misconfigured              an operator has to mend this
    ├── ModelMissing
    ├── ModelMismatch
    ├── SchemaTooNew
    └── SchemaDrift
"""


class EngineError(Exception):
    """The base of every refusal. Its text is written for the caller."""


class Invalid(EngineError):
    pass


class Unauthenticated(EngineError):
    def __init__(self) -> None:
        # One sentence for every cause: which part was wrong is nobody's business.
        super().__init__("This call needs a valid API key: send it as Authorization: Bearer <key>.")


class Forbidden(EngineError):
    def __init__(self, role: str, needed: str) -> None:
        super().__init__(f"A key with the role {role!r} may not do this; it needs {needed}.")


class NotFound(EngineError):
    pass


class PersonaNotFound(NotFound):
    def __init__(self, persona_id: str) -> None:
        super().__init__(f"No persona {persona_id!r}.")


class InstanceNotFound(NotFound):
    def __init__(self, instance_id: str) -> None:
        super().__init__(f"No instance {instance_id!r}.")


class MemberNotFound(NotFound):
    def __init__(self, instance_id: str, user_id: str) -> None:
        super().__init__(f"No member {user_id!r} in instance {instance_id!r}.")


class KeyNotFound(NotFound):
    def __init__(self, key_id: str) -> None:
        super().__init__(f"No key {key_id!r}.")


class ConversationNotFound(NotFound):
    def __init__(self, conversation_id: str) -> None:
        super().__init__(f"No conversation {conversation_id!r}.")


class MessageNotFound(NotFound):
    def __init__(self, message_id: str) -> None:
        super().__init__(f"No message {message_id!r}.")


class CandidateNotFound(NotFound):
    def __init__(self, candidate_id: str) -> None:
        super().__init__(f"No candidate {candidate_id!r}.")


class MemoryNotFound(NotFound):
    def __init__(self, memory_id: str) -> None:
        super().__init__(f"No memory {memory_id!r}.")


class RangeNotFound(NotFound):
    def __init__(self, range_id: str) -> None:
        super().__init__(f"No range {range_id!r}.")


class RunNotFound(NotFound):
    def __init__(self, run_id: str) -> None:
        super().__init__(f"No run {run_id!r}.")


class Conflict(EngineError):
    pass


class IdTaken(Conflict):
    def __init__(self, noun: str, taken_id: str) -> None:
        super().__init__(f"There is another {noun} with the id {taken_id!r} and other content.")


class LastAdminKey(Conflict):
    def __init__(self) -> None:
        super().__init__(
            "This is the tenant's last working admin key; make another before revoking it."
        )


class NightUnderWay(Conflict):
    def __init__(self, persona_id: str) -> None:
        super().__init__(f"A night of persona {persona_id!r} is under way already.")


class CandidateClosed(Conflict):
    def __init__(self, candidate_id: str) -> None:
        super().__init__(
            f"Candidate {candidate_id!r} can no longer be changed: its editing window is over. "
            "What became a memory can be minimized instead."
        )


class RunsAfter(Conflict):
    def __init__(self, run_id: str, newer: str) -> None:
        super().__init__(f"Run {newer!r} came after {run_id!r}; take that one back first.")


class NothingToRestore(Conflict):
    def __init__(self, candidate_id: str) -> None:
        super().__init__(
            f"Candidate {candidate_id!r} was not passed over by a night, or is still flagged."
        )


class ConfirmationNeeded(Conflict):
    def __init__(self, messages: int) -> None:
        super().__init__(f"Mark {messages} messages as not worth remembering?")


class UndoWindowOver(Conflict):
    def __init__(self) -> None:
        super().__init__(
            "The time to undo this here is over; it can be taken back in the Memory Manager."
        )


class Unavailable(EngineError):
    pass


class GraphUnavailable(Unavailable):
    def __init__(self, why: str) -> None:
        super().__init__(f"Neo4j cannot be used right now: {why}.")


class BrokerUnavailable(Unavailable):
    def __init__(self, why: str) -> None:
        super().__init__(f"Redis cannot be used right now: {why}.")


class EmbedderUnavailable(Unavailable):
    def __init__(self, why: str) -> None:
        super().__init__(f"The embedding service cannot be used right now: {why}.")


class LlmUnavailable(Unavailable):
    def __init__(self, why: str) -> None:
        super().__init__(f"The language model cannot be used right now: {why}.")


class Misconfigured(EngineError):
    pass


class ModelMissing(Misconfigured):
    def __init__(self, model: str, mend: str) -> None:
        super().__init__(f"The embedding model {model!r} is not installed. {mend}")


class ModelMismatch(Misconfigured):
    def __init__(self, remembered: str, offered: str) -> None:
        super().__init__(
            f"This graph's vectors were made by {remembered}, and the engine is set to {offered}; "
            "vectors of two models cannot be compared. Set the model back, "
            "or start with an empty graph."
        )


class SchemaTooNew(Misconfigured):
    def __init__(self, unknown: str) -> None:
        super().__init__(
            f"This graph has the migration {unknown!r}, which this version does not know: "
            "it was made by a newer Pentimento. Upgrade this one."
        )


class SchemaDrift(Misconfigured):
    def __init__(self, migration: str) -> None:
        super().__init__(
            f"The migration {migration!r} was changed after it was applied here. "
            "Restore the file, and make the change a migration of its own."
        )
