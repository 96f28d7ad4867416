// List the candidates of a tenant in the order they were said.
CYPHER 25
CREATE INDEX candidate_time IF NOT EXISTS
FOR (candidate:Candidate)
ON (candidate.tenant_id, candidate.said_at, candidate.id)
