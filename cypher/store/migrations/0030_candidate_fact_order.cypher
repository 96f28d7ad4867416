// Find what was said about one thing and waits for its night, in the order it was said.
CYPHER 25
CREATE INDEX candidate_fact_order IF NOT EXISTS
FOR (candidate:Candidate)
ON (candidate.tenant_id, candidate.persona_id, candidate.fact, candidate.said_at)
