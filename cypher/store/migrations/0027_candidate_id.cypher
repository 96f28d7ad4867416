// A candidate is drawn once, however often its message is read.
CYPHER 25
CREATE CONSTRAINT candidate_id IF NOT EXISTS
FOR (candidate:Candidate)
REQUIRE (candidate.tenant_id, candidate.id) IS UNIQUE
