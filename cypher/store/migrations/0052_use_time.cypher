// Find the uses that are too old to be told again.
CYPHER 25
CREATE INDEX use_time IF NOT EXISTS
FOR (use:Use)
ON (use.tenant_id, use.persona_id, use.used_at)
