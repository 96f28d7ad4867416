// The token with an id, and its key. Runs before the tenant of the caller is known.
//
// $token_id  string
//
// Returns tenant_id, user_id, instance_ids, hash, expires_at; key_id of the key that issued it, and
// its key_revoked_at and key_expires_at.
CYPHER 25
MATCH (token:UserToken {id: $token_id})
MATCH (key:ApiKey {id: token.key_id})
RETURN
  token.tenant_id AS tenant_id,
  token.user_id AS user_id,
  token.instance_ids AS instance_ids,
  token.hash AS hash,
  token.expires_at AS expires_at,
  key.id AS key_id,
  key.revoked_at AS key_revoked_at,
  key.expires_at AS key_expires_at
