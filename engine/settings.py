"""What can be set from outside: environment variables with the prefix PENTIMENTO_, or `.env`."""

import re
from pathlib import Path
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, SecretStr
from pydantic_settings import BaseSettings, SettingsConfigDict

DEFAULT_MODEL = "sentence-transformers/all-MiniLM-L6-v2"


def cuts_words(analyzer: str) -> str:
    """Refuse the analyzers that leave words of any length: Lucene takes none above 32,766 bytes."""
    if analyzer in ("keyword", "thai"):
        raise ValueError(f"{analyzer} does not cut long words, which would end the database")
    return analyzer


Analyzer = Annotated[str, AfterValidator(cuts_words)]


def check_origins(origins: str) -> str:
    """Refuse what a browser never sends as an origin, such as a path or a trailing slash."""
    for origin in split_origins(origins):
        if not re.fullmatch(r"\*|https?://[^\s/*]+", origin):
            raise ValueError(f"{origin!r} is not an origin such as https://app.example.com")
    return origins


def split_origins(origins: str) -> list[str]:
    return [origin.strip() for origin in origins.split(",") if origin.strip()]


Origins = Annotated[str, AfterValidator(check_origins)]


class Settings(BaseSettings):
    """Read once, at a door, and passed inward."""

    model_config = SettingsConfigDict(
        env_prefix="PENTIMENTO_", env_file=".env", extra="ignore", frozen=True
    )

    home: Path = Path(".pentimento")  # the local stack's data, logs, jars and models

    # The graph. Without a URI `pentimento up` starts a Neo4j of its own.
    neo4j_uri: str | None = None  # bolt://, neo4j:// (a cluster) or neo4j+s:// (Aura)
    neo4j_user: str = "neo4j"
    neo4j_password: SecretStr = SecretStr("")
    neo4j_database: str = "neo4j"
    neo4j_patience: float = Field(default=5.0, gt=0, le=7)  # seconds of retrying before a 503
    answer_seconds: float = Field(default=7.0, gt=0)  # for all that a request asks of the graph
    neo4j_pool_size: int = Field(default=100, ge=1)
    neo4j_heap: str = "1g"  # of the Neo4j that `pentimento up` starts
    neo4j_page_cache: str = "512m"

    # The broker. Without a URL `pentimento up` starts a Redis of its own.
    redis_url: str | None = None  # processes that nobody told look on this machine

    # The HTTP door.
    api_host: str = "127.0.0.1"
    api_port: int = Field(default=8700, ge=0, le=65535)  # `pentimento up` takes a free one near it
    cors_origins: Origins = ""  # whose pages may call from a browser, by commas; * for all
    max_body_bytes: int = Field(default=4 * 1024 * 1024, ge=1024)
    shutdown_seconds: int = Field(default=10, ge=1)  # how long a stop waits for open requests
    key_cache_seconds: float = Field(default=5.0, ge=0)  # how late another process sees a revoke
    # Whether identity providers' keys may be fetched from private addresses (a provider of one's
    # own network), and by plain http from this machine (tests).
    jwks_private_hosts: bool = False
    # Requests a minute, by each key, or by each person; counted in Redis by all processes together.
    rate_limits: Literal["on", "off"] = "on"
    rate_limit_runtime: int = Field(default=60_000, ge=1)
    rate_limit_admin: int = Field(default=60_000, ge=1)
    rate_limit_analyst: int = Field(default=6_000, ge=1)
    rate_limit_user: int = Field(default=1_200, ge=1)
    log_format: Literal["json", "console"] = "json"
    log_level: Literal["debug", "info", "warning", "error"] = "info"

    # Time. `movable` opens PUT /api/clock to admins: for simulations and tests only.
    clock: Literal["system", "movable"] = "system"

    # Meaning.
    embedder: Literal["onnx", "sentence-transformers", "remote"] = "onnx"
    embedding_model: str = DEFAULT_MODEL
    embedding_url: str | None = None  # of an OpenAI-compatible service, for `remote`
    embedding_api_key: SecretStr = SecretStr("")
    embedding_dimensions: int = Field(default=384, ge=1, le=4096)
    embedding_cache: int = Field(default=4096, ge=0)  # query embeddings kept in each process

    # Recall.
    recall_profile: Literal["woven", "published"] = "woven"  # how signals are weighed
    full_text_analyzer: Analyzer = "english"  # one of Lucene's; changing it makes the index again
    persona_cache_seconds: float = Field(default=5.0, ge=0)  # how late whom it knows is noticed
    involuntary_recall_rate: float = Field(default=0.05, ge=0, le=1)  # of hydrations

    # Reading messages: by rules, or by a language model with the rules behind it.
    extractor: Literal["rules", "llm"] = "rules"
    llm_url: str | None = (
        None  # of an OpenAI-compatible service, such as http://127.0.0.1:11434/v1/
    )
    llm_model: str | None = None
    llm_api_key: SecretStr = SecretStr("")
    llm_seconds: float = Field(default=20.0, gt=0)  # then the rules' items stand in

    # Candidates: how long each can be changed before it may become a memory.
    editing_window_hours: float = Field(default=24.0, gt=0)

    # "Forget This".
    range_confirm_min: int = Field(default=3, ge=1)  # from so many messages on, a range is asked of
    undo_window_seconds: float = Field(default=7.0, ge=6, le=8)  # how long the chat offers undo
    ack_debounce_seconds: float = Field(default=30.0, ge=0)  # flags this close share one answer
    acknowledger: Literal["templates", "llm"] = "templates"  # who phrases it
    ack_seconds: float = Field(default=1.5, gt=0)  # then the template stands in for the LLM
    forget_fallback_threshold: float = Field(default=0.55, ge=0, le=1)  # a good answer
    fallback_confidence_factor: float = Field(default=0.4, ge=0, le=1)  # of a fallback
    badge_visibility: Literal["flagger", "conversation"] = "flagger"  # who sees what was flagged
    minimize_factor: float = Field(default=0.2, ge=0, lt=1)  # what one flag leaves of a weight

    # Jobs.
    job_soft_seconds: int = Field(default=600, ge=1)  # then a job is asked to stop
    job_hard_seconds: int = Field(default=660, ge=1)  # then its process is ended
    job_retries: int = Field(default=8, ge=0)  # with backoff, while the graph is away
    worker_processes: int = Field(default=1, ge=1)
    consolidate_at: str = Field(default="03:00", pattern=r"^([01]\d|2[0-3]):[0-5]\d$")  # local time

    @property
    def badges_for_all(self) -> bool:
        """Whether everybody in a conversation is shown what was flagged in it."""
        return self.badge_visibility == "conversation"

    @property
    def cors_origin_list(self) -> list[str]:
        return split_origins(self.cors_origins)

    @property
    def broker_url(self) -> str:
        return self.redis_url or "redis://127.0.0.1:6379/0"
