// A page of a conversation's checkpoints, in order.
//
// $tenant_id        string
// $conversation_id  string
// $after_from_at    zoned datetime, of the last checkpoint of the previous page
// $after_id         string, of the same
// $limit            integer
//
// Returns checkpoint, with its message ids and its former summaries.
CYPHER 25
MATCH (checkpoint:Checkpoint)
USING INDEX checkpoint:Checkpoint(tenant_id, conversation_id, from_at)
WHERE
  checkpoint.tenant_id = $tenant_id AND
  checkpoint.conversation_id = $conversation_id AND
  checkpoint.from_at >= $after_from_at AND
  NOT (checkpoint.from_at = $after_from_at AND checkpoint.id <= $after_id)
WITH checkpoint
ORDER BY checkpoint.from_at, checkpoint.id
LIMIT $limit
RETURN
  checkpoint {
    .id,
    .conversation_id,
    .label,
    .from_at,
    .to_at,
    .summary,
    .muted,
    message_ids:
      COLLECT {
        MATCH (checkpoint)-[:COVERS]->(message:Message)
        RETURN message.id
        ORDER BY message.said_at, message.arrival
      },
    stale_summaries:
      COLLECT {
        MATCH (checkpoint)-[:HAD]->(summary:Summary)
        RETURN summary {.text, .made_at, .stale_at}
        ORDER BY summary.stale_at, summary.made_at
      }
  } AS checkpoint
ORDER BY checkpoint.from_at, checkpoint.id
