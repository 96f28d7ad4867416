// Set the identity provider whose JWTs a tenant accepts, in place of the former one.
//
// $tenant_id  string
// $provider   map {issuer, audience, algorithms, jwks_url, public_keys, updated_at}
// $event      map {id, action, by, at}
// $after      string, what the audit event says
//
// Returns provider; nothing when there is no such tenant.
CYPHER 25
MATCH (tenant:Tenant {id: $tenant_id})
MERGE (provider:IdentityProvider {tenant_id: $tenant_id})
// Lock before reading what it was.
SET provider.lock = true
MERGE (tenant)-[:TRUSTS]->(provider)
MERGE (event:Event {tenant_id: $tenant_id, id: $event.id})
  ON CREATE SET
    event += $event,
    event.written_at = datetime.realtime(),
    event.before = provider.summary,
    event.after = $after
MERGE (event)-[:ABOUT]->(tenant)
SET
  provider = $provider,
  provider.tenant_id = $tenant_id,
  provider.summary = $after
RETURN
  provider {
    .issuer,
    .audience,
    .algorithms,
    .jwks_url,
    .public_keys,
    .updated_at
  } AS provider
