// Save checkpoints of a conversation, new ones and those that messages were added to. A message leaves the
// checkpoint it was in. A label that is set stays.
//
// $tenant_id        string
// $conversation_id  string
// $checkpoints      list of maps {id, label, from_at, to_at, joining: ids of messages, parts,
//                   part_message_ids, part_places, was_closed}
// $now              zoned datetime
//
// Returns checkpoints: how many.
CYPHER 25
MATCH (conversation:Conversation {tenant_id: $tenant_id, id: $conversation_id})
UNWIND $checkpoints AS row
MERGE (checkpoint:Checkpoint {tenant_id: $tenant_id, id: row.id})
  ON CREATE SET
    checkpoint.conversation_id = $conversation_id,
    checkpoint.made_at = $now
SET
  checkpoint.label = coalesce(checkpoint.label, row.label),
  checkpoint.from_at = row.from_at,
  checkpoint.to_at = row.to_at,
  checkpoint.parts = row.parts,
  checkpoint.part_message_ids = row.part_message_ids,
  checkpoint.part_places = row.part_places,
  // While a checkpoint grows, its former summary is not stale, only unfinished.
  checkpoint.summary = CASE WHEN row.was_closed THEN checkpoint.summary END
MERGE (conversation)-[:HAS_CHECKPOINT]->(checkpoint)
WITH checkpoint, row
CALL (checkpoint, row) {
  UNWIND row.joining AS id
  MATCH (message:Message {tenant_id: $tenant_id, id: id, conversation_id: $conversation_id})
  REMOVE message.uncovered_since
  WITH checkpoint, message
  OPTIONAL MATCH (message)<-[covers:COVERS]-(:Checkpoint)
  DELETE covers
  WITH DISTINCT checkpoint, message
  CREATE (checkpoint)-[:COVERS]->(message)
}
RETURN count(checkpoint) AS checkpoints
