// Find the flags that one acknowledgment answers.
CYPHER 25
CREATE INDEX flag_acknowledgment IF NOT EXISTS
FOR (flag:Flag)
ON (flag.tenant_id, flag.acknowledgment_id)
