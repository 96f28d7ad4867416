// The history of a message: the newest events about it that the caller may see.
//
// $tenant_id   string
// $message_id  string
// $viewer      string or null: with a user, of flags and their undos only those they did themselves,
//              those that took back a flag of theirs, and all in an instance they are an admin of
// $limit       integer
//
// Returns event, in the order in which they took effect.
CYPHER 25
MATCH (message:Message {tenant_id: $tenant_id, id: $message_id})<-[:ABOUT]-(event:Event)
WHERE
  event.effect_of IS NULL AND
  // fragment: visible_event (about → message)
  ($viewer IS NULL OR
    NOT event.action IN ['flagged', 'unflagged'] OR
    event.by = $viewer OR
    EXISTS {
      MATCH (message)<-[:FLAGS]-(flag:Flag)
      WHERE flag.reversed_in = event.id AND flag.flagged_by = $viewer
    } OR
    EXISTS {
      (message)<-[:CONTAINS]-()<-[:HOLDS]-()<-[:MEMBER_OF {role: 'admin'}]-({id: $viewer})
    })
  // end: visible_event
WITH event
ORDER BY event.written_at DESC, event.id DESC
LIMIT $limit
RETURN event {.*} AS event
ORDER BY event.written_at, event.id
