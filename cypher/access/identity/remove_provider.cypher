// Remove the identity provider of a tenant: it accepts no JWTs any more.
//
// $tenant_id  string
// $event      map {id, action, by, at}
//
// Returns issuer of the provider that was there; nothing when there was none.
CYPHER 25
MATCH (tenant:Tenant {id: $tenant_id})-[:TRUSTS]->(provider:IdentityProvider)
SET provider.lock = true
WITH tenant, provider, provider.issuer AS issuer, provider.summary AS summary
MERGE (event:Event {tenant_id: $tenant_id, id: $event.id})
  ON CREATE SET
    event += $event,
    event.written_at = datetime.realtime(),
    event.before = summary
MERGE (event)-[:ABOUT]->(tenant)
DETACH DELETE provider
RETURN issuer
