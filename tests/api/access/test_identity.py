"""JWTs of a tenant's identity provider, whose keys are served on this machine."""

import asyncio
import base64
import hashlib
import hmac
import json
from collections.abc import Awaitable, Callable, Iterator
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

import httpx
import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
)

from api.application import Application
from engine.access import jwks
from engine.access.jwks import KeySets, NotFetched, check_url, fetch_json, is_public, keys_in
from engine.errors import Invalid
from tests.api.conftest import NewCaller, a_client

ISSUER = "https://login.example.com/"
RSA = rsa.generate_private_key(public_exponent=65537, key_size=2048)
EC = ec.generate_private_key(ec.SECP256R1())
ED = ed25519.Ed25519PrivateKey.generate()
OTHER = ec.generate_private_key(ec.SECP256R1())
SIGNERS: dict[str, Any] = {"RS256": RSA, "ES256": EC, "EdDSA": ED}


def pem(key: Any) -> str:
    public = key.public_key()
    return str(public.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo).decode())


def jwk(key: Any, kid: str, algorithm: str) -> dict[str, Any]:
    kinds: dict[str, Any] = {
        "RS256": jwt.algorithms.RSAAlgorithm,
        "ES256": jwt.algorithms.ECAlgorithm,
    }
    kind = kinds.get(algorithm, jwt.algorithms.OKPAlgorithm)
    return {**kind.to_jwk(key.public_key(), as_dict=True), "kid": kid, "use": "sig"}


def signed(
    tenant_id: str, key: Any = EC, algorithm: str = "ES256", kid: str | None = None, **claims: Any
) -> str:
    given = {
        "iss": ISSUER,
        "aud": f"pentimento:{tenant_id}",
        "sub": "sam",
        "exp": datetime.now(UTC) + timedelta(minutes=5),
        **claims,
    }
    present = {name: value for name, value in given.items() if value is not None}
    return jwt.encode(present, key, algorithm, headers={"kid": kid} if kid else None)


class JwksServer:
    """Serves one document, counts how often, and can be told to fail."""

    def __init__(self) -> None:
        self.document: Any = {"keys": []}
        self.status = 200
        self.served = 0
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                outer.served += 1
                body = json.dumps(outer.document).encode()
                self.send_response(outer.status)
                if outer.status == 302:
                    self.send_header("Location", "/elsewhere")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}/jwks.json"
        Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05}).start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


@pytest.fixture
def provider() -> Iterator[JwksServer]:
    server = JwksServer()
    yield server
    server.close()


Ask = Callable[..., Awaitable[httpx.Response]]


@pytest.fixture
def ask(app: Application) -> Ask:
    """Asks for the conversations of whoever a JWT speaks for."""

    async def get(text: str, **headers: str) -> httpx.Response:
        async with a_client(app, text) as client:
            return await client.get("/api/conversations", headers=headers)

    return get


async def trust(admin: httpx.AsyncClient, **fields: Any) -> dict[str, Any]:
    answer = await admin.put("/api/identity-provider", json={"issuer": ISSUER, **fields})
    assert answer.status_code == 200, answer.text
    return dict(answer.json())


async def a_room(admin: httpx.AsyncClient) -> None:
    await admin.post("/api/personas", json={"id": "ada", "name": "Ada"})
    for place in ("studio", "attic"):
        await admin.post("/api/instances", json={"id": place, "name": place})
        opened = {"id": f"in-{place}", "instance_id": place, "persona_ids": ["ada"]}
        await admin.post("/api/conversations", json=opened)
    await admin.put("/api/instances/studio/members/sam", json={})


@pytest.mark.spec("SEC-01")
@pytest.mark.parametrize("algorithm", SIGNERS)
async def test_a_jwt_of_the_tenants_provider_is_its_subject(
    admin: httpx.AsyncClient, tenant_id: str, ask: Ask, provider: JwksServer, algorithm: str
) -> None:
    """By keys that are fetched, and by keys that are given."""
    await a_room(admin)
    provider.document = {"keys": [jwk(SIGNERS[algorithm], "one", algorithm)]}
    text = signed(tenant_id, SIGNERS[algorithm], algorithm, "one")
    assert (await ask(text)).status_code == 401

    await trust(admin, jwks_url=provider.url)
    seen = (await ask(text)).json()["items"]
    assert [item["id"] for item in seen] == ["in-studio"]
    assert (await ask(text, **{"X-User-Id": "sam"})).status_code == 200
    assert (await ask(text, **{"X-User-Id": "mia"})).status_code == 403

    await trust(admin, public_keys=[pem(OTHER), pem(SIGNERS[algorithm])])
    assert (await ask(text)).status_code == 200
    assert (await ask(signed(tenant_id, SIGNERS[algorithm], algorithm))).status_code == 200

    assert (await admin.delete("/api/identity-provider")).status_code == 204
    assert (await ask(text)).status_code == 401
    assert (await admin.get("/api/identity-provider")).status_code == 404
    assert (await admin.delete("/api/identity-provider")).status_code == 404


def unsigned(text: str, **header: Any) -> str:
    """The same claims with another header, and no signature."""
    _, claims, _ = text.split(".")
    encoded = base64.urlsafe_b64encode(json.dumps(header).encode()).rstrip(b"=").decode()
    return f"{encoded}.{claims}."


@pytest.mark.spec("SEC-01")
async def test_what_is_wrong_with_a_jwt_is_nobodys_business(
    admin: httpx.AsyncClient, tenant_id: str, ask: Ask
) -> None:
    await trust(admin, public_keys=[pem(EC), pem(RSA)], algorithms=["ES256"])
    now = datetime.now(UTC)
    good = signed(tenant_id)
    assert (await ask(good)).status_code == 200
    head, claims, signature = good.split(".")

    wrong = {
        "another signer": signed(tenant_id, OTHER),
        "no signature": f"{head}.{claims}.",
        "a changed signature": f"{head}.{claims}.{signature[:-4]}AAAA",
        "alg none": unsigned(good, alg="none"),
        "symmetric": signed(tenant_id, "x" * 64, "HS256"),
        "an algorithm that is not accepted": signed(tenant_id, RSA, "RS256"),
        "expired": signed(tenant_id, exp=now - timedelta(minutes=1)),
        "no end": signed(tenant_id, exp=None),
        "not yet": signed(tenant_id, nbf=now + timedelta(minutes=2)),
        "another issuer": signed(tenant_id, iss="https://evil.example.com/"),
        "no issuer": signed(tenant_id, iss=None),
        "another audience": signed(tenant_id, aud="pentimento:other"),
        "no audience": signed(tenant_id, aud=None),
        "nobody": signed(tenant_id, sub=None),
        "too long": signed(tenant_id, more="x" * 9000),
        "three dots": f"{good}.x",
        "noise": "a.b.c",
    }
    answers = {why: await ask(text) for why, text in wrong.items()}

    assert {why: answer.status_code for why, answer in answers.items()} == dict.fromkeys(wrong, 401)
    details = {answer.json()["detail"] for answer in answers.values()}
    assert len(details) == 1
    skewed = signed(tenant_id, exp=now - timedelta(seconds=5), nbf=now + timedelta(seconds=5))
    assert (await ask(skewed)).status_code == 200  # clocks differ a little
    assert (await ask(signed(tenant_id, sub="not an id"))).status_code == 400


async def test_a_public_key_is_no_secret_that_signs(
    admin: httpx.AsyncClient, tenant_id: str, ask: Ask
) -> None:
    """RS256 turned into HS256 with the public key as secret, written by hand."""
    await trust(admin, public_keys=[pem(RSA)])
    _, claims, _ = signed(tenant_id, RSA, "RS256").split(".")
    header = base64.urlsafe_b64encode(b'{"alg":"HS256","typ":"JWT"}').rstrip(b"=").decode()
    mac = hmac.new(pem(RSA).encode(), f"{header}.{claims}".encode(), hashlib.sha256).digest()
    forged = f"{header}.{claims}.{base64.urlsafe_b64encode(mac).rstrip(b'=').decode()}"

    assert (await ask(forged)).status_code == 401


@pytest.mark.spec("SEC-01")
async def test_no_tenant_can_speak_for_another(
    admin: httpx.AsyncClient,
    tenant_id: str,
    new_tenant: Callable[[], Awaitable[str]],
    new_caller: NewCaller,
    ask: Ask,
) -> None:
    """Both claim the same issuer; each is asked about its own tokens only."""
    other_id = await new_tenant()
    other = await new_caller(other_id)
    await trust(admin, public_keys=[pem(EC)])
    await trust(other, public_keys=[pem(OTHER)])

    assert (await ask(signed(tenant_id, EC))).status_code == 200
    assert (await ask(signed(other_id, OTHER))).status_code == 200
    assert (await ask(signed(tenant_id, OTHER))).status_code == 401
    assert (await ask(signed(other_id, EC))).status_code == 401
    assert (await ask(signed(other_id, OTHER), **{"X-Tenant-Id": tenant_id})).status_code == 401
    both = [f"pentimento:{tenant_id}", f"pentimento:{other_id}"]
    assert (await ask(signed(tenant_id, OTHER, aud=both))).status_code == 401


async def test_where_the_audience_is_the_providers_own_the_tenant_is_named_by_header(
    admin: httpx.AsyncClient, tenant_id: str, ask: Ask
) -> None:
    await trust(admin, public_keys=[pem(EC)], audience="client-17")
    text = signed(tenant_id, aud="client-17")

    assert (await ask(text)).status_code == 401
    assert (await ask(text, **{"X-Tenant-Id": tenant_id})).status_code == 200
    assert (await ask(text, **{"X-Tenant-Id": "nobody"})).status_code == 401
    assert (await ask(signed(tenant_id), **{"X-Tenant-Id": tenant_id})).status_code == 401


async def test_keys_are_fetched_once_and_again_when_a_new_one_is_used(
    admin: httpx.AsyncClient,
    tenant_id: str,
    ask: Ask,
    provider: JwksServer,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    provider.document = {"keys": [jwk(EC, "one", "ES256")]}
    await trust(admin, jwks_url=provider.url)

    answers = [await ask(signed(tenant_id, kid="one", sub=f"u{n}")) for n in range(5)]
    assert {answer.status_code for answer in answers} == {200}
    assert provider.served == 1

    provider.document = {"keys": [jwk(EC, "one", "ES256"), jwk(OTHER, "two", "ES256")]}
    rotated = signed(tenant_id, OTHER, kid="two")
    assert (await ask(rotated)).status_code == 401  # asked a moment ago: not again so soon
    assert [(await ask(signed(tenant_id, kid=f"made-up-{n}"))).status_code for n in range(5)] == (
        [401] * 5
    )
    assert provider.served == 1
    monkeypatch.setattr(jwks, "FETCH_INTERVAL_SECONDS", 0.0)
    assert (await ask(rotated)).status_code == 200
    assert provider.served == 2

    provider.status = 500
    monkeypatch.setattr(jwks, "FRESH_SECONDS", 0.0)
    assert (await ask(signed(tenant_id, kid="one", sub="kim"))).status_code == 200
    assert provider.served == 3
    monkeypatch.setattr(jwks, "STALE_SECONDS", 0.0)
    assert (await ask(signed(tenant_id, kid="one", sub="lee"))).status_code == 401


@pytest.mark.parametrize(
    ("document", "status"),
    [
        ([], 200),
        ({"keys": "none"}, 200),
        ({"keys": [1, {}, {"kty": "oct", "k": "c2VjcmV0"}, {"kty": "RSA"}]}, 200),
        ({"keys": [{**jwk(EC, "one", "ES256"), "use": "enc"}]}, 200),
        ({"keys": [], "more": "x" * 300_000}, 200),
        ({"keys": [jwk(EC, "one", "ES256")]}, 302),
        ({"keys": [jwk(EC, "one", "ES256")]}, 404),
    ],
)
async def test_what_is_no_key_set_lets_nobody_in(
    admin: httpx.AsyncClient,
    tenant_id: str,
    ask: Ask,
    provider: JwksServer,
    document: Any,
    status: int,
) -> None:
    provider.document, provider.status = document, status
    await trust(admin, jwks_url=provider.url)

    assert (await ask(signed(tenant_id, kid="one"))).status_code == 401
    assert provider.served == 1


async def test_a_provider_that_is_away_does_not_hold_up_the_caller(
    admin: httpx.AsyncClient, tenant_id: str, ask: Ask
) -> None:
    silent = await asyncio.start_server(lambda *_: asyncio.sleep(30), "127.0.0.1", 0)
    port = silent.sockets[0].getsockname()[1]
    await trust(admin, jwks_url=f"http://127.0.0.1:{port}/keys")

    async with asyncio.timeout(20):
        assert (await ask(signed(tenant_id))).status_code == 401
    silent.close()


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"jwks_url": "http://login.example.com/keys"},
        {"jwks_url": "ftp://login.example.com/keys"},
        {"jwks_url": "file:///etc/passwd"},
        {"jwks_url": "https://sam:secret@login.example.com/keys"},
        {"jwks_url": "https://"},
        {"jwks_url": "no url at all"},
        {"public_keys": ["no key"]},
        {"public_keys": [pem(ec.generate_private_key(ec.SECP384R1()))]},
        {"public_keys": [pem(rsa.generate_private_key(public_exponent=65537, key_size=1024))]},  # noqa: S505
        {
            "public_keys": [
                EC.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()
            ]
        },
        {"public_keys": [pem(EC)], "algorithms": ["HS256"]},
        {"public_keys": [pem(EC)], "algorithms": ["none"]},
        {"public_keys": [pem(EC)], "algorithms": []},
        {"public_keys": [pem(EC)], "issuer": ""},
    ],
)
async def test_a_provider_that_cannot_be_trusted_is_refused(
    admin: httpx.AsyncClient, fields: dict[str, Any]
) -> None:
    refused = await admin.put("/api/identity-provider", json={"issuer": ISSUER, **fields})

    assert refused.status_code == 400, refused.text
    assert (await admin.get("/api/identity-provider")).status_code == 404


async def test_keys_are_asked_for_at_public_addresses_only(provider: JwksServer) -> None:
    for url in (provider.url, "http://127.0.0.1/keys"):
        with pytest.raises(Invalid):
            check_url(url, private_hosts=False)
    for host in ("127.0.0.1", "localhost", "[::1]", "10.0.0.1", "169.254.169.254", "[fe80::1]"):
        with pytest.raises(NotFetched):
            await fetch_json(f"https://{host}/keys", private_hosts=False)
    assert provider.served == 0
    assert not any(map(is_public, ("192.168.1.1", "100.64.0.1", "::ffff:127.0.0.1", "224.0.0.1")))
    assert is_public("93.184.215.14")
    assert await KeySets(private_hosts=False).keys("t", provider.url, None) == []


def test_symmetric_and_weak_keys_of_a_set_are_left_out() -> None:
    weak_rsa = rsa.generate_private_key(public_exponent=65537, key_size=1024)  # noqa: S505
    entries = [
        {"kty": "oct", "k": "c2VjcmV0", "kid": "secret"},
        jwk(weak_rsa, "weak", "RS256"),
        jwk(ec.generate_private_key(ec.SECP384R1()), "other-curve", "ES256"),
        jwk(ED, "good", "EdDSA"),
    ]

    assert set(keys_in({"keys": entries})) == {"good"}


async def test_what_the_tenant_trusts_can_be_read_and_is_written_down(
    admin: httpx.AsyncClient, tenant_id: str
) -> None:
    kept = await trust(admin, public_keys=[pem(EC)])
    await trust(admin, jwks_url="https://login.example.com/keys", algorithms=["EdDSA"])
    await admin.delete("/api/identity-provider")

    assert kept["audience"] == f"pentimento:{tenant_id}"
    assert kept["algorithms"] == ["ES256", "EdDSA", "RS256"]
    audit = (await admin.get("/api/audit")).json()["items"]
    actions = [record["action"] for record in audit if record["action"] != "key_issued"]
    assert actions == ["identity_provider_set"] * 2 + ["identity_provider_removed"]
