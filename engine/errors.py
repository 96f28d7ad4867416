"""Every error that the engine raises for its callers.

EngineError
├── Invalid                    the request makes no sense
├── Unauthenticated            no key or token, or not a valid one
├── Forbidden                  the caller is known, and may not do this
│   ├── AnotherUser
│   ├── ActsForUser
│   └── NotYourName
├── TooManyRequests            the caller's rate limit is used up; try again later
├── NotFound                   it does not exist, or belongs to another tenant: the same answer
│   ├── PersonaNotFound
│   ├── InstanceNotFound
│   ├── MemberNotFound
│   ├── KeyNotFound
│   ├── IdentityProviderNotFound
│   ├── ConversationNotFound
│   ├── MessageNotFound
│   ├── CandidateNotFound
│   ├── MemoryNotFound
│   ├── ShapeNotFound
│   ├── RangeNotFound
│   └── RunNotFound
├── Conflict                   it exists, and its state does not allow this
│   ├── IdTaken
│   ├── LastAdminKey
│   ├── NightUnderWay
│   ├── CandidateClosed
│   ├── RunFolded
│   ├── RunsAfter
│   ├── NothingToRestore
│   ├── NothingToRelearn
│   ├── NotShareable
│   ├── ShapeWithdrawn
│   ├── ConfirmationNeeded
│   └── UndoWindowOver
├── Unavailable                a service that the engine needs does not answer; try again
│   ├── GraphUnavailable
│   │   └── GraphTooSlow
│   ├── BrokerUnavailable
│   ├── EmbedderUnavailable
│   ├── RerankerUnavailable
│   └── LlmUnavailable
├── StatementFailed            a bug of ours: Neo4j cannot run a statement
└── Misconfigured              an operator has to fix this
    ├── ModelMissing
    ├── ModelMismatch
    ├── SchemaTooNew
    └── SchemaDrift
"""

from engine.models import Allowance


class EngineError(Exception):
    """The base of every error. Its text is written for the caller.

    `instead` has the operations that can be used instead, each with the path of its route.
    """

    instead: dict[str, str] | None = None


class Invalid(EngineError):
    pass


class Unauthenticated(EngineError):
    def __init__(self) -> None:
        # One sentence for every cause: saying which part was wrong would help an attacker.
        super().__init__(
            "This call needs a valid API key, user token or JWT: "
            "send it as Authorization: Bearer <key>."
        )


class Forbidden(EngineError):
    def __init__(self, role: str, needed: str) -> None:
        who = "A person" if role == "user" else f"A key with the role '{role}'"
        super().__init__(f"{who} may not do this: it takes a key with the role {needed}.")


class NotYourName(Forbidden):
    """A user's message has the name of somebody else as its speaker."""

    def __init__(self, name: str, held: str | None = None) -> None:
        known = f"You speak here as {held!r}" if held else "It is the name of somebody else here"
        EngineError.__init__(self, f"You cannot speak as {name!r}. {known}.")


class AnotherUser(Forbidden):
    """The header X-User-Id names a user whom this caller may not act for."""

    def __init__(self, role: str) -> None:
        sentence = (
            "This token speaks for one person, and X-User-Id names another: leave the header out."
            if role == "user"
            else f"A key with the role '{role}' may not act for a user: leave X-User-Id out."
        )
        EngineError.__init__(self, sentence)


class ActsForUser(Forbidden):
    """A key acts for a user, and no user may do this."""

    def __init__(self) -> None:
        EngineError.__init__(
            self, "No user may do this, so a key may not do it for one: leave X-User-Id out."
        )


class TooManyRequests(EngineError):
    def __init__(self, allowance: Allowance) -> None:
        super().__init__(
            f"At most {allowance.limit} requests a minute are let through for this caller: "
            f"try again in {allowance.seconds} s."
        )
        self.allowance = allowance


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


class IdentityProviderNotFound(NotFound):
    def __init__(self) -> None:
        super().__init__("No identity provider is set.")


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


class ShapeNotFound(NotFound):
    def __init__(self, shape_id: str) -> None:
        super().__init__(f"No shape {shape_id!r}.")


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
    def __init__(self, candidate_id: str, memory_id: str | None) -> None:
        super().__init__(
            f"Candidate {candidate_id!r} can no longer be changed: its editing window is over. "
            "What became a memory can be minimized instead."
        )
        if memory_id is not None:
            self.instead = {"minimize_memory": f"/api/memories/{memory_id}/minimize"}


class RunFolded(Conflict):
    def __init__(self, run_id: str) -> None:
        super().__init__(
            f"Run {run_id!r} can no longer be undone: only counts of its changes are kept."
        )


class RunsAfter(Conflict):
    def __init__(self, run_id: str, newer: str) -> None:
        super().__init__(f"Run {newer!r} came after {run_id!r}; undo that one first.")


class NothingToRestore(Conflict):
    def __init__(self, candidate_id: str) -> None:
        super().__init__(
            f"Candidate {candidate_id!r} was not passed over by a night, or is still flagged."
        )


class NothingToRelearn(Conflict):
    def __init__(self, shape_id: str) -> None:
        super().__init__(f"Nothing that can be relearned is behind shape {shape_id!r}.")


class NotShareable(Conflict):
    def __init__(self, why: str) -> None:
        super().__init__(f"This shape cannot be shared now. {why}")


class ShapeWithdrawn(Conflict):
    def __init__(self, shape_id: str) -> None:
        super().__init__(
            f"Shape {shape_id!r} is withdrawn and says nothing, so it cannot be recalled. "
            "The next night draws it again."
        )


class ConfirmationNeeded(Conflict):
    def __init__(self, messages: int) -> None:
        super().__init__(f"Mark {messages} messages as not worth remembering?")


class UndoWindowOver(Conflict):
    def __init__(self) -> None:
        super().__init__(
            "The chat no longer offers to undo this; it can be undone in the Memory Manager."
        )


class Unavailable(EngineError):
    pass


class GraphUnavailable(Unavailable):
    def __init__(self, why: str) -> None:
        super().__init__(f"Neo4j cannot be used right now: {why}.")


class GraphTooSlow(GraphUnavailable):
    """Neo4j answers, but a statement took too long."""

    def __init__(self) -> None:
        super().__init__("it did not answer in time")


class BrokerUnavailable(Unavailable):
    def __init__(self, why: str) -> None:
        super().__init__(f"Redis cannot be used right now: {why}.")


class EmbedderUnavailable(Unavailable):
    def __init__(self, why: str) -> None:
        super().__init__(f"The embedding service cannot be used right now: {why}.")


class RerankerUnavailable(Unavailable):
    def __init__(self, why: str) -> None:
        self.why = why
        super().__init__(f"The reranker cannot be used right now: {why}.")


class LlmUnavailable(Unavailable):
    def __init__(self, why: str) -> None:
        super().__init__(f"The language model cannot be used right now: {why}.")


class StatementFailed(EngineError):
    def __init__(self, code: str) -> None:
        self.code = code
        super().__init__(f"Neo4j refused a statement: {code}.")


class Misconfigured(EngineError):
    pass


class ModelMissing(Misconfigured):
    def __init__(self, model: str, fix: str) -> None:
        super().__init__(f"The embedding model {model!r} is not installed. {fix}")


class ModelMismatch(Misconfigured):
    def __init__(self, stored_model: str, configured_model: str) -> None:
        super().__init__(
            f"This graph's vectors were made by {stored_model}, "
            f"and the engine is set to {configured_model}; vectors of two models "
            "cannot be compared. Set the model back, or start with an empty graph."
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
