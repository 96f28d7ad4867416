// A tenant trusts one identity provider.
CYPHER 25
CREATE CONSTRAINT identity_provider_tenant IF NOT EXISTS
FOR (provider:IdentityProvider)
REQUIRE provider.tenant_id IS UNIQUE
