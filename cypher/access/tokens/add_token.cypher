// Give a user a token, and delete some expired tokens of the tenant.
//
// $tenant_id  string
// $key_id     string, of the key that issues it
// $token      map {id, hash, user_id, instance_ids, created_at, expires_at}
// $cleared    integer, how many expired tokens are deleted at most
// $now        zoned datetime
// $event      map {id, action, by, at}
// $after      string, what the audit event says
//
// Returns expires_at, which is no later than that of the key; missing: those of instance_ids that do
// not exist. Nothing when the key is revoked or no key of this tenant.
CYPHER 25
MATCH (key:ApiKey {id: $key_id})
WHERE key.tenant_id = $tenant_id AND key.revoked_at IS NULL
CALL () {
  MATCH (old:UserToken)
  WHERE old.tenant_id = $tenant_id AND old.expires_at < $now
  WITH old
  LIMIT $cleared
  DETACH DELETE old
}
OPTIONAL MATCH (instance:Instance)
WHERE instance.tenant_id = $tenant_id AND instance.id IN coalesce($token.instance_ids, [])
WITH key, collect(instance.id) AS found
MERGE (token:UserToken {id: $token.id})
  ON CREATE SET
    token += $token,
    token.tenant_id = $tenant_id,
    token.key_id = $key_id,
    token.expires_at =
      CASE
        WHEN key.expires_at < $token.expires_at THEN key.expires_at
        ELSE $token.expires_at
      END
MERGE (event:Event {tenant_id: $tenant_id, id: $event.id})
  ON CREATE SET
    event += $event,
    event.written_at = datetime.realtime(),
    event.after = $after
MERGE (event)-[:ABOUT]->(token)
RETURN
  token.expires_at AS expires_at,
  [id IN coalesce($token.instance_ids, []) WHERE NOT id IN found] AS missing
