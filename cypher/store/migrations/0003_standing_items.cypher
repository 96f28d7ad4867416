// The indexes for standing instructions and preferences, which are part of every context.
//
// Each statement may run twice (IF NOT EXISTS). Neo4j Browser takes the file as it is.

// Find a persona's memories of one category, the newest first.
CREATE INDEX memory_category IF NOT EXISTS
FOR (memory:Memory)
ON (memory.tenant_id, memory.persona_id, memory.category, memory.state, memory.said_at);

// The same for its candidates.
CREATE INDEX candidate_category IF NOT EXISTS
FOR (candidate:Candidate)
ON (
  candidate.tenant_id,
  candidate.persona_id,
  candidate.category,
  candidate.state,
  candidate.said_at
);
