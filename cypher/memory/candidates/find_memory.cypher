// The memory that a candidate has become or was merged into.
//
// $tenant_id     string
// $candidate_id  string
//
// Returns memory_id; nothing when it is none.
CYPHER 25
MATCH (candidate:Candidate|Memory {tenant_id: $tenant_id, id: $candidate_id})
OPTIONAL MATCH (candidate)-[:MERGED_INTO]->(merged:Memory)
WITH CASE WHEN candidate:Memory THEN candidate.id ELSE merged.id END AS memory_id
WHERE memory_id IS NOT NULL
RETURN memory_id
LIMIT 1
