// Give a tenant a key. The key's text is never stored, only the hash of its secret part.
//
// $tenant_id  string
// $key        map {id, name, role, hash, created_at, expires_at}
// $event      map {id, action, by, at}
//
// Returns id, name, role, created_at, expires_at, revoked_at; nothing when there is no such tenant.
CYPHER 25
MATCH (tenant:Tenant {id: $tenant_id})
MERGE (key:ApiKey {id: $key.id})
  ON CREATE SET
    key += $key,
    key.tenant_id = $tenant_id
MERGE (tenant)-[:HAS_KEY]->(key)
MERGE (event:Event {tenant_id: $tenant_id, id: $event.id})
  ON CREATE SET
    event += $event,
    event.written_at = datetime.realtime(),
    event.after = key.role
MERGE (event)-[:ABOUT]->(key)
RETURN
  key.id AS id,
  key.name AS name,
  key.role AS role,
  key.created_at AS created_at,
  key.expires_at AS expires_at,
  key.revoked_at AS revoked_at
