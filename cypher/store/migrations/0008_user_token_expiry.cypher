// Tokens that have expired are cleared away.
CYPHER 25
CREATE INDEX user_token_expiry IF NOT EXISTS
FOR (token:UserToken)
ON (token.tenant_id, token.expires_at)
