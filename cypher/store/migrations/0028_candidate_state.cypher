// List a persona's candidates of one state, in the order they were drawn.
CYPHER 25
CREATE INDEX candidate_state IF NOT EXISTS
FOR (candidate:Candidate)
ON (candidate.tenant_id, candidate.persona_id, candidate.state, candidate.id)
