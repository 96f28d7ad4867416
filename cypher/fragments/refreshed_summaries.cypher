// Summarize a checkpoint again from the best three sentences whose messages are not flagged, in the order
// they were said. The summary it had is kept as stale; a checkpoint all of whose messages are flagged is
// muted.

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
