// Make candidates that were merged into a memory pending again, and the memory as it was before.
//
// $tenant_id  string
// $rows       list of maps {memory_id, candidate_ids, messages, before, after}
//
// Returns memory_id; kept: whether it was used since, and keeps its salience; candidate_ids: those that wait
// again.
CYPHER 25
UNWIND $rows AS row
MATCH (memory:Memory {tenant_id: $tenant_id, id: row.memory_id})
SET memory.lock = true
REMOVE memory.lock
WITH memory, row
CALL (memory, row) {
  UNWIND row.candidate_ids AS id
  MATCH (candidate:Candidate {tenant_id: $tenant_id, id: id})-[merged:MERGED_INTO]->(memory)
  DELETE merged
  SET candidate.state = CASE WHEN candidate.flagged THEN 'suppressed' ELSE 'pending' END
  REMOVE candidate.merged_at
  RETURN collect(candidate.id) AS candidate_ids
}
CALL (memory, row) {
  // A split since then has made the copies its sources too.
  MATCH (memory)-[drawn:DRAWN_FROM]->(message:Message)
  WHERE message.id IN row.messages OR message.copied_from IN row.messages
  DELETE drawn
}
WITH memory, row, candidate_ids, memory.salience <> row.after.salience AS kept
SET
  memory.reinforcements = row.before.reinforcements,
  memory.salience = CASE WHEN kept THEN memory.salience ELSE row.before.salience END,
  memory.salience_at = CASE WHEN kept THEN memory.salience_at ELSE row.before.salience_at END,
  memory.uses_on = CASE WHEN kept THEN memory.uses_on ELSE row.before.uses_on END,
  memory.uses_today = CASE WHEN kept THEN memory.uses_today ELSE row.before.uses_today END
RETURN memory.id AS memory_id, kept, candidate_ids
