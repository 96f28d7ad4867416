// Summarize again the checkpoints that cover some messages, after these were flagged or unflagged. Labels and
// times stay.
//
// $tenant_id        string
// $conversation_id  string
// $message_ids      list of strings
// $now              zoned datetime
// $event_id         string, of the event about it
//
// Returns checkpoint_ids, of those that changed.
CYPHER 25
UNWIND $message_ids AS id
MATCH (flagged:Message {tenant_id: $tenant_id, id: id, conversation_id: $conversation_id})
MATCH (flagged)<-[:COVERS]-(checkpoint:Checkpoint)
// fragment: refreshed_summaries
WITH DISTINCT checkpoint
CALL (checkpoint) {
  MATCH (checkpoint)-[:COVERS]->(message:Message)
  RETURN
    collect(CASE WHEN NOT coalesce(message.flagged, false) THEN message.id END) AS unflagged_ids
}
WITH
  checkpoint,
  unflagged_ids = [] AS muted,
  [
    place IN range(0, size(checkpoint.parts) - 1)
    WHERE checkpoint.part_message_ids[place] IN unflagged_ids
  ][..3] AS best
WITH
  checkpoint,
  muted,
  reduce(
    text = '',
    part IN
      COLLECT {
        UNWIND best AS place
        RETURN checkpoint.parts[place]
        ORDER BY checkpoint.part_places[place], place
      } |
    text + CASE WHEN text = '' THEN '' ELSE '\n' END + part
  ) AS summary
WHERE
  checkpoint.summary IS NULL OR
  checkpoint.summary <> summary OR
  checkpoint.muted <> muted
CALL (checkpoint, summary) {
  WITH checkpoint, summary
  WHERE checkpoint.summary <> summary
  SET checkpoint.summaries = coalesce(checkpoint.summaries, 0) + 1
  CREATE
    (checkpoint)-[:HAD]->
    (:Summary {
      tenant_id: $tenant_id,
      id: checkpoint.id + '-' + toString(checkpoint.summaries),
      text: checkpoint.summary,
      made_at: checkpoint.summary_made_at,
      stale_at: $now
    })
}
SET
  checkpoint.summary_made_at =
    CASE WHEN checkpoint.summary = summary THEN checkpoint.summary_made_at ELSE $now END,
  checkpoint.summary = summary,
  checkpoint.muted = muted
// end: refreshed_summaries
WITH collect(checkpoint.id) AS checkpoint_ids
CALL (checkpoint_ids) {
  MATCH (conversation:Conversation {tenant_id: $tenant_id, id: $conversation_id})
  WHERE checkpoint_ids <> []
  SET conversation.events = coalesce(conversation.events, 0) + 1
  CREATE
    (:Event {
      tenant_id: $tenant_id,
      conversation_id: $conversation_id,
      place: conversation.events,
      id: $event_id,
      effect_of: 'checkpoints',
      action: 'summarized',
      by: 'engine',
      at: $now,
      written_at: datetime.realtime(),
      checkpoint_ids: checkpoint_ids
    })
}
RETURN checkpoint_ids
