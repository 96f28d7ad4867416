// The audit of a tenant: what people, and systems for them, have changed, in the order it took effect.
//
// $tenant_id   string
// $after_time  string, a time: when the last event of the previous page was written, or one before all
// $after_id    string: of the same
// $from_time   zoned datetime or null: only what was done then or later
// $to_time     zoned datetime or null: only what was done before
// $actor       string or null: only by them
// $action      string or null: only this
// $limit       integer
//
// Returns event, with the ids of what it was about; written: a string, when it was written, to the
// nanosecond.
CYPHER 25
MATCH (event:Event)
  USING INDEX SEEK event:Event(tenant_id, written_at, id)
WHERE
  event.tenant_id = $tenant_id AND
  event.written_at >= datetime($after_time) AND
  event.id IS NOT NULL AND
  // Not an OR, which would be looked up in two indexes.
  CASE WHEN event.written_at = datetime($after_time) THEN event.id > $after_id ELSE true END AND
  ($from_time IS NULL OR event.at >= $from_time) AND
  ($to_time IS NULL OR event.at < $to_time) AND
  ($actor IS NULL OR event.by = $actor) AND
  ($action IS NULL OR event.action = $action) AND
  // Effects of a change are for event streams; the audit lists the change itself.
  event.effect_of IS NULL
WITH event
ORDER BY event.tenant_id, event.written_at, event.id
LIMIT $limit
RETURN
  event {
    .*,
    about:
      COLLECT {
        MATCH (event)-[:ABOUT]->(subject)
        RETURN subject.id
        ORDER BY subject.id
        LIMIT 1000
      }
  } AS event,
  toString(event.written_at) AS written
ORDER BY event.written_at, event.id
