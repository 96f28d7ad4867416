"""Settings: environment variables with the prefix PENTIMENTO_, or lines of `.env`."""

import re
from pathlib import Path
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, SecretStr
from pydantic_settings import BaseSettings, SettingsConfigDict

DEFAULT_MODEL = "sentence-transformers/all-MiniLM-L6-v2"
INT8_SUFFIX = "-int8"  # of a model's name


def check_analyzer(analyzer: str) -> str:
    """Refuse analyzers that do not split long words: Lucene takes no term above 32,766 bytes."""
    if analyzer in ("keyword", "thai"):
        raise ValueError(f"{analyzer} does not split long words, which would stop the database")
    return analyzer


Analyzer = Annotated[str, AfterValidator(check_analyzer)]


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
    """Read once when a process starts, and passed to the functions that need them."""

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
    answer_seconds: float = Field(default=7.0, gt=0)  # limit of all statements of one request
    neo4j_pool_size: int = Field(default=100, ge=1)
    neo4j_heap: str = "1g"  # of the Neo4j that `pentimento up` starts
    neo4j_page_cache: str = "512m"

    # The broker. Without a URL `pentimento up` starts a Redis of its own.
    redis_url: str | None = None  # without one, a process looks for Redis on this machine

    # The HTTP API.
    api_host: str = "127.0.0.1"
    api_port: int = Field(default=8700, ge=0, le=65535)  # `pentimento up` uses a free port near it
    api_processes: int = Field(default=1, ge=1, le=64)  # that share the port
    cors_origins: Origins = ""  # whose pages may call from a browser, by commas; * for all
    max_body_bytes: int = Field(default=4 * 1024 * 1024, ge=1024)
    shutdown_seconds: int = Field(default=10, ge=1)  # how long a stop waits for open requests
    # Until every process knows of a revoked key.
    key_cache_seconds: float = Field(default=5.0, ge=0)
    # Whether keys of identity providers may be fetched from private addresses (a provider in one's
    # own network), and by plain http from this machine (tests).
    jwks_private_hosts: bool = False
    # Requests a minute of each key or user; counted in Redis for all processes together.
    rate_limits: Literal["on", "off"] = "on"
    rate_limit_runtime: int = Field(default=60_000, ge=1)
    rate_limit_admin: int = Field(default=60_000, ge=1)
    rate_limit_analyst: int = Field(default=6_000, ge=1)
    rate_limit_user: int = Field(default=1_200, ge=1)
    log_format: Literal["json", "console"] = "json"
    log_level: Literal["debug", "info", "warning", "error"] = "info"

    # Time. `movable` opens PUT /api/clock to admins: for simulations and tests only.
    clock: Literal["system", "movable"] = "system"

    # Embeddings.
    embedder: Literal["onnx", "sentence-transformers", "remote"] = "onnx"
    embedding_model: str = DEFAULT_MODEL
    # Of the ONNX model. int8 took less than half the time on an EPYC with VNNI.
    embedding_precision: Literal["fp32", "int8"] = "fp32"
    embedding_url: str | None = None  # of an OpenAI-compatible service, for `remote`
    embedding_api_key: SecretStr = SecretStr("")
    embedding_dimensions: int = Field(default=384, ge=1, le=4096)
    embedding_cache: int = Field(default=4096, ge=0)  # query embeddings kept in each process

    # Recall.
    recall_profile: Literal["woven", "published"] = "woven"  # how signals are weighted
    # Memory for personas that are asked, in each API process; 0 searches the graph every time.
    hot_megabytes: int = Field(default=512, ge=0)
    # Recalls of a process that search the graph at once; 0: as many as this machine has processors.
    graph_searches: int = Field(default=0, ge=0, le=100)
    full_text_analyzer: Analyzer = "english"  # of Lucene; changing it rebuilds the index
    # A folder with a cross-encoder as ONNX (model.onnx, tokenizer.json) that orders the best hits.
    reranker: Path | None = None
    reranker_depth: int = Field(default=30, ge=1, le=200)  # hits of a recall that it reads
    persona_cache_seconds: float = Field(default=5.0, ge=0)  # of the names a persona knows
    involuntary_recall_rate: float = Field(default=0.05, ge=0, le=1)  # of hydrations

    # Extraction: by rules, or by a language model with the rules as fallback.
    extractor: Literal["rules", "llm"] = "rules"
    # Of an OpenAI-compatible service, such as http://127.0.0.1:11434/v1/
    llm_url: str | None = None
    llm_model: str | None = None
    llm_api_key: SecretStr = SecretStr("")
    llm_seconds: float = Field(default=20.0, gt=0)  # after which the items of the rules are used

    # Candidates: how long each can be changed before it may become a memory.
    editing_window_hours: float = Field(default=24.0, gt=0)

    # "Forget This".
    # Messages from which on a range must be confirmed.
    range_confirm_min: int = Field(default=3, ge=1)
    undo_window_seconds: float = Field(default=7.0, ge=6, le=8)  # how long the chat offers undo
    # Flags this close share one acknowledgment.
    ack_debounce_seconds: float = Field(default=30.0, ge=0)
    acknowledger: Literal["templates", "llm"] = "templates"  # what phrases acknowledgments
    ack_seconds: float = Field(default=1.5, gt=0)  # after which the template is used
    forget_fallback_threshold: float = Field(default=0.55, ge=0, le=1)  # score of a good answer
    fallback_confidence_factor: float = Field(default=0.4, ge=0, le=1)  # for fallback answers
    badge_visibility: Literal["flagger", "conversation"] = "flagger"  # who sees flags
    minimize_factor: float = Field(default=0.2, ge=0, lt=1)  # by which one flag multiplies a weight

    # Jobs.
    job_soft_seconds: int = Field(default=600, ge=1)  # after which a job is asked to stop
    job_hard_seconds: int = Field(default=660, ge=1)  # after which its process is killed
    job_retries: int = Field(default=8, ge=0)  # with backoff, while the graph is away
    worker_processes: int = Field(default=1, ge=1)
    consolidate_at: str = Field(default="03:00", pattern=r"^([01]\d|2[0-3]):[0-5]\d$")  # local time

    @property
    def embedding_name(self) -> str:
        """The model with its precision, if that changes its vectors."""
        is_rounded = self.embedder == "onnx" and self.embedding_precision == "int8"
        return f"{self.embedding_model}{INT8_SUFFIX}" if is_rounded else self.embedding_model

    @property
    def badges_for_all(self) -> bool:
        """Whether everybody in a conversation sees all flags in it."""
        return self.badge_visibility == "conversation"

    @property
    def cors_origin_list(self) -> list[str]:
        return split_origins(self.cors_origins)

    @property
    def broker_url(self) -> str:
        """The URL of Redis, set or default."""
        return self.redis_url or "redis://127.0.0.1:6379/0"
