"""The guide for Neo4j Browser: what analysts ask, with the statements to run, and the style.

Browser fetches guides and styles only from hosts that Neo4j allows, which by default are its
maker's and `localhost`; so they are served from here, to this machine alone.
"""

import contextlib
import html
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from string import Template
from typing import Annotated, ClassVar
from urllib.parse import quote

import typer

import cypher
from ops.demo import PERSONA, TENANT
from ops.ports import free_port
from ops.terminal import console, current_home, running_stack

FOLDER = Path(__file__).parent / "browser"
STYLE = "pentimento.grass"
GUIDE = "pentimento.html"
LIMIT = 50  # rows of an answer

# What analysts ask, and the statement that answers it; each is pasted into Browser as it is.
QUERIES = {
    "What has {persona} lost?": "analyst/what_was_lost",
    "What did last night do?": "analyst/last_night",
    "Where did this memory come from?": "analyst/where_from",
    "What is fading next?": "analyst/fading_next",
    "What is the shadow of {persona}?": "analyst/shadow",
}


def guide_page(address: str, tenant_id: str, persona_id: str) -> str:
    """The guide as a page of slides, for one persona. `address` is where the style is served."""
    settings = parameters(tenant_id, persona_id)
    return Template((FOLDER / GUIDE).read_text()).substitute(
        style=f"{address}/{STYLE}",
        parameters="\n".join(
            runnable(f":param {name} => {value}") for name, value in settings.items()
        ),
        slides="\n".join(
            slide(question.format(persona=persona_id), name) for question, name in QUERIES.items()
        ),
    )


def parameters(tenant_id: str, persona_id: str) -> dict[str, str]:
    """The parameters of the statements, as Cypher. `=>` keeps a whole number a whole number."""
    texts = {"tenant_id": tenant_id, "persona_id": persona_id}
    quoted = {name: f"'{literal(text)}'" for name, text in texts.items()}
    return {**quoted, "limit": str(LIMIT)}


def literal(text: str) -> str:
    return text.replace("\\", "\\\\").replace("'", "\\'")


def slide(question: str, name: str) -> str:
    """One question: what its statement says of itself, and the statement to run."""
    text = cypher.statement(name)
    says = text.partition("\n//\n")[0].replace("// ", "").replace("\n", " ")
    first = CHOOSE_MEMORY if "$memory_id" in text else ""
    return (
        f"<slide><h3>{html.escape(question)}</h3><p>{html.escape(says)}</p>{first}"
        f"{runnable(text)}<p><small>cypher/{name}.cypher</small></p></slide>"
    )


def runnable(text: str) -> str:
    """Code that Browser puts into its editor at a click."""
    return f"<pre class='code runnable'>{html.escape(text.strip(), quote=False)}</pre>"


CHOOSE_MEMORY = "<p>Click a memory in a graph, and put its id here first.</p>" + runnable(
    ":param memory_id => 'the id'"
)


class GuideHandler(BaseHTTPRequestHandler):
    """Answers Browser with the guide and the style, and nothing else."""

    pages: ClassVar[dict[str, bytes]] = {}  # by path

    def do_OPTIONS(self) -> None:
        """Browser fetches from another port, so it asks which headers it may send along."""
        self.answer(204, b"")

    def do_GET(self) -> None:
        page = self.pages.get(self.path.partition("?")[0])
        self.answer(404 if page is None else 200, page or b"")

    def answer(self, status: int, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Access-Control-Allow-Origin", "*")
        # Any: `pragma`, and whatever a version adds to trace its own requests.
        self.send_header("Access-Control-Allow-Headers", "*")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Says nothing: the terminal shows the address, and no more is of interest."""


def guide_server(port: int, tenant_id: str, persona_id: str) -> ThreadingHTTPServer:
    """A server of the guide for a persona, on this machine alone. It has not started yet."""
    address = f"http://localhost:{port}"
    handler = type(
        "Handler",
        (GuideHandler,),
        {
            "pages": {
                f"/{GUIDE}": guide_page(address, tenant_id, persona_id).encode(),
                f"/{STYLE}": (FOLDER / STYLE).read_bytes(),
            }
        },
    )
    return ThreadingHTTPServer(("127.0.0.1", port), handler)


def browser_url(browser: str, port: int) -> str:
    """The address of Browser that opens it with the guide."""
    return f"{browser}?cmd=guide&arg={quote(f'http://localhost:{port}/{GUIDE}', safe='')}"


def browser(
    persona: Annotated[
        str, typer.Option(metavar="ID", help="Whose memory the guide is about.")
    ] = PERSONA,
    tenant_id: Annotated[str, typer.Option("--tenant", metavar="ID", help="Its tenant.")] = TENANT,
) -> None:
    """Serve the guide and the style for Neo4j Browser, and print the address that opens both."""
    stack = running_stack(current_home()[0])
    server = guide_server(port := free_port(), tenant_id, persona)
    address = stack.browser_url or "http://localhost:7474/browser/"
    for line in (
        f"Open     {browser_url(address, port)}",
        f"Connect  {stack.neo4j_uri}, user {stack.neo4j_user}, password {stack.neo4j_password}",
        "Ctrl-C ends the guide; Browser goes on.",
    ):
        console.print(line, soft_wrap=True, markup=False)
    with contextlib.suppress(KeyboardInterrupt):
        server.serve_forever()
