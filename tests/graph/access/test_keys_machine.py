"""Any order of issuing, rotating, revoking, expiring and using keys: who gets in is who should."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    invariant,
    multiple,
    rule,
)

from engine.access.keys import KeyRing, issue_key, revoke_key, rotate_key
from engine.access.models import Role
from engine.access.tenants import add_tenant
from engine.errors import KeyNotFound, LastAdminKey, Unauthenticated
from engine.settings import Settings
from engine.store.graph import Graph
from tests.machines import Machine, run_machine

PAST, FUTURE = timedelta(days=-1), timedelta(days=1)
GRACE = st.sampled_from([timedelta(), timedelta(hours=1)])


KEY_ROLES = [role for role in Role if role is not Role.USER]


class Keys(Machine):
    """The model: every text ever given out, and whether it should open the door."""

    keys = Bundle("keys")

    def __init__(self) -> None:
        super().__init__()
        self.new_tenant(), self.new_tenant()
        self.good: dict[str, tuple[str, Role]] = {}  # text: key id, role
        self.bad: set[str] = set()
        self.admins: dict[str, set[str]] = {tenant: set() for tenant in self.tenants}
        for tenant in self.tenants:
            self.run(add_tenant(self.graph, tenant, name="T", now=datetime.now(UTC)))

    def texts(self, key_id: str) -> list[str]:
        return [text for text, (owner, _) in self.good.items() if owner == key_id]

    @rule(
        target=keys,
        which=st.integers(0, 1),
        role=st.sampled_from(KEY_ROLES),
        life=st.sampled_from([None, PAST, FUTURE]),
    )
    def issue(self, which: int, role: Role, life: timedelta | None):  # type: ignore[no-untyped-def]
        now, tenant = datetime.now(UTC), self.tenants[which]
        issued = self.run(
            issue_key(
                self.graph,
                tenant,
                name="k",
                role=role,
                now=now,
                expires_at=now + life if life else None,
            )
        )
        if life == PAST:
            self.bad.add(issued.api_key)
            return multiple()
        self.good[issued.api_key] = (issued.key.id, role)
        if role is Role.ADMIN:
            self.admins[tenant].add(issued.key.id)
        return (tenant, issued.key.id, role)

    @rule(key=keys, grace=GRACE)
    def rotate(self, key: tuple[str, str, Role], grace: timedelta) -> None:
        tenant, key_id, role = key
        before = self.texts(key_id)
        try:
            issued = self.run(
                rotate_key(self.graph, tenant, key_id, now=datetime.now(UTC), grace=grace)
            )
        except KeyNotFound:
            assert not before
            return
        newest = before[-1]
        for text in before:
            if not grace or text != newest:
                del self.good[text]
                self.bad.add(text)
        self.good[issued.api_key] = (key_id, role)

    @rule(key=keys)
    def revoke(self, key: tuple[str, str, Role]) -> None:
        tenant, key_id, _ = key
        last = self.admins[tenant] == {key_id}
        try:
            self.run(revoke_key(self.graph, tenant, key_id, now=datetime.now(UTC)))
        except LastAdminKey:
            assert last
            return
        assert not last
        self.admins[tenant].discard(key_id)
        for text in self.texts(key_id):
            del self.good[text]
            self.bad.add(text)

    @rule(key=keys)
    def another_tenant_touches_it(self, key: tuple[str, str, Role]) -> None:
        tenant, key_id, _ = key
        (other,) = {*self.tenants} - {tenant}
        now = datetime.now(UTC)
        with pytest.raises(KeyNotFound):
            self.run(revoke_key(self.graph, other, key_id, now=now))
        with pytest.raises(KeyNotFound):
            self.run(rotate_key(self.graph, other, key_id, now=now, grace=timedelta()))

    @invariant()
    def who_gets_in_is_who_should(self) -> None:
        ring = KeyRing(self.graph, seconds=0)
        for text, (key_id, role) in self.good.items():
            caller = self.run(ring.caller(text))
            assert (caller.key_id, caller.role) == (key_id, role)
        for text in self.bad:
            with pytest.raises(Unauthenticated):
                self.run(ring.caller(text))


@pytest.mark.spec("SEC-01")
async def test_any_order_of_key_changes(settings: Settings, graph: Graph) -> None:
    await run_machine(Keys, settings, examples=12, steps=15)
