// Revoke a key, unless it is the tenant's last working admin key.
//
// $tenant_id   string
// $key_id      string
// $revoked_at  zoned datetime
// $event       map {id, action, by, at}
//
// Returns is_last: whether it was kept for being the last; nothing when there is no such key.
CYPHER 25
MATCH (tenant:Tenant {id: $tenant_id})-[:HAS_KEY]->(key:ApiKey {id: $key_id})
// The tenant's lock: of two admins who revoke each other's key, one finds it is the last.
SET tenant.keys_changed_at = $revoked_at
WITH tenant, key
OPTIONAL MATCH (tenant)-[:HAS_KEY]->(other:ApiKey {role: 'admin'})
WHERE
  other <> key AND
  other.revoked_at IS NULL AND
  (other.expires_at IS NULL OR other.expires_at > $revoked_at)
WITH key, count(other) AS others
WITH key, key.role = 'admin' AND key.revoked_at IS NULL AND others = 0 AS is_last
FOREACH (ended IN CASE WHEN is_last OR key.revoked_at IS NOT NULL THEN [] ELSE [1] END |
  CREATE
    (event:Event {tenant_id: $tenant_id, written_at: datetime.realtime(), before: key.role})
      -[:ABOUT]->(key)
  SET event += $event
)
SET
  key.revoked_at =
    CASE
      WHEN is_last THEN null
      ELSE coalesce(key.revoked_at, $revoked_at)
    END
RETURN is_last
