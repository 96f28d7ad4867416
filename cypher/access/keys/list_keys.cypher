// The keys of a tenant, by id.
//
// $tenant_id  string
// $after      string, the last id of the previous page, or ''
// $limit      integer
//
// Returns id, name, role, created_at, expires_at, revoked_at.
CYPHER 25
MATCH (:Tenant {id: $tenant_id})-[:HAS_KEY]->(key:ApiKey)
WHERE key.id > $after
RETURN
  key.id AS id,
  key.name AS name,
  key.role AS role,
  key.created_at AS created_at,
  key.expires_at AS expires_at,
  key.revoked_at AS revoked_at
ORDER BY id
LIMIT $limit
