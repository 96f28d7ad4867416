// Take a persona's candidates into the night in the order they were said.
CYPHER 25
CREATE INDEX candidate_order IF NOT EXISTS
FOR (candidate:Candidate)
ON (candidate.tenant_id, candidate.persona_id, candidate.state, candidate.said_at, candidate.id)
