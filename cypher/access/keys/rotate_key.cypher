// Give a key a new secret. The old one stays good until $previous_until.
//
// $tenant_id       string
// $key_id          string
// $hash            string, of the new secret
// $previous_until  zoned datetime
// $event           map {id, action, by, at}
//
// Returns id, name, role, created_at, expires_at, revoked_at; nothing for a key that is not this
// tenant's or was revoked.
CYPHER 25
MATCH (key:ApiKey {id: $key_id})
WHERE key.tenant_id = $tenant_id AND key.revoked_at IS NULL
// Trying the same rotation again must not make the new secret its own predecessor.
SET
  key.previous_hash = CASE WHEN key.hash = $hash THEN key.previous_hash ELSE key.hash END,
  key.previous_until = $previous_until,
  key.hash = $hash
MERGE (event:Event {tenant_id: $tenant_id, id: $event.id})
  ON CREATE SET
    event += $event,
    event.written_at = datetime.realtime(),
    event.after = 'the old text is good until ' + toString($previous_until)
MERGE (event)-[:ABOUT]->(key)
RETURN
  key.id AS id,
  key.name AS name,
  key.role AS role,
  key.created_at AS created_at,
  key.expires_at AS expires_at,
  key.revoked_at AS revoked_at
