// The key with an id. Runs before the tenant of the caller is known.
//
// $key_id  string
//
// Returns id, tenant_id, role, hash, previous_hash, previous_until, expires_at, revoked_at.
CYPHER 25
MATCH (key:ApiKey {id: $key_id})
RETURN
  key.id AS id,
  key.tenant_id AS tenant_id,
  key.role AS role,
  key.hash AS hash,
  key.previous_hash AS previous_hash,
  key.previous_until AS previous_until,
  key.expires_at AS expires_at,
  key.revoked_at AS revoked_at
