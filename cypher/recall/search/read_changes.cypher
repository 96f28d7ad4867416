// Read what has changed among the items of a persona since a revision, and the stored state of some items.
//
// $tenant_id   string
// $persona_id  string
// $since       integer: the revision that is known already; -1 for none
// $limit       integer: how many changed items are read at most
// $ids         list of strings: items whose state is read whether it changed or not
//
// Returns revision: up to which the changes are read; 0 when nothing was ever logged. reload: whether anything may
// have changed: more than the limit has, or the log does not reach back. item_ids: what changed; items: for each property
// a list over those of them that are stored; text and packed_vectors are null where no content changed; times in
// microseconds. links: of the changed items, both ways, as lists; strength is times weight_modifier. checked: of
// each of $ids that is stored a list of id, state, flagged, valid_to and weight_modifier.
CYPHER 25
OPTIONAL MATCH (log:ChangeLog {tenant_id: $tenant_id, persona_id: $persona_id})
WITH coalesce(log.revision, 0) AS logged
CALL (logged) {
  WITH logged
  WHERE logged > $since AND $since >= 0
  MATCH (change:Change)
  WHERE
    change.tenant_id = $tenant_id AND
    change.persona_id = $persona_id AND
    change.revision > $since
  RETURN
    min(change.revision) AS first,
    max(change.revision) AS last,
    count(change.item_ids) = count(change) AS is_listed,
    collect(change.item_ids) AS lists,
    collect(CASE WHEN change.content THEN change.item_ids END) AS content_lists
}
CALL (lists) {
  UNWIND lists AS ids
  UNWIND ids AS id
  WITH DISTINCT id
  LIMIT $limit + 1
  RETURN collect(id) AS all_ids
}
WITH
  // The newest change may be seen in the log a moment before it is seen itself.
  CASE
    WHEN last IS NOT NULL THEN last
    WHEN logged = $since + 1 AND $since >= 0 THEN $since
    ELSE logged
  END AS revision,
  CASE
    WHEN last IS NULL THEN logged > $since + 1 OR $since < 0
    ELSE first > $since + 1 OR NOT is_listed OR size(all_ids) > $limit
  END AS reload,
  all_ids,
  content_lists
WITH revision, reload, content_lists, CASE WHEN reload THEN [] ELSE all_ids END AS item_ids
CALL (item_ids, content_lists) {
  UNWIND content_lists AS ids
  UNWIND ids AS id
  RETURN collect(DISTINCT id) AS content_ids
}
CALL (item_ids) {
  UNWIND item_ids AS id
  MATCH (item:Candidate|Memory {tenant_id: $tenant_id, id: id})
  WHERE item.persona_id = $persona_id
  RETURN collect(item) AS items
}
CALL (items) {
  UNWIND items AS source
  MATCH
    // fragment: link_types
    (source)-[link:RELATED|ENABLES|VALIDATES|CONTRADICTS|EXTENDS|PRECEDES|CAUSALLY_LINKED]-(item:Memory)
  // Links of shapes are not followed.
  WHERE NOT source:ForgottenShape AND NOT item:ForgottenShape
  RETURN
    collect(source.id) AS source_ids,
    collect(item.id) AS linked_ids,
    collect(type(link)) AS types,
    collect(link.strength * link.weight_modifier) AS strengths
}
CALL () {
  UNWIND $ids AS id
  MATCH (item:Candidate|Memory {tenant_id: $tenant_id, id: id})
  WHERE item.persona_id = $persona_id
  RETURN collect(item) AS checked
}
RETURN
  revision,
  reload,
  item_ids,
  {
    // fragment: item_states
    id: [item IN items | item.id],
    memory_type: [item IN items | item.memory_type],
    state: [item IN items | item.state],
    flagged: [item IN items | item.flagged],
    about: [item IN items | item.about],
    category: [item IN items | item.category],
    fact: [item IN items | item.fact],
    tags: [item IN items | item.tags],
    project: [item IN items | item.project],
    importance: [item IN items | coalesce(item.importance, 5)],
    pinned: [item IN items | coalesce(item.pinned, false)],
    access_count: [item IN items | coalesce(item.access_count, 0)],
    weight_modifier: [item IN items | coalesce(item.weight_modifier, 1.0)],
    valid_from: [item IN items | item.valid_from.epochSeconds * 1000000 + item.valid_from.microsecond],
    valid_to: [item IN items | item.valid_to.epochSeconds * 1000000 + item.valid_to.microsecond],
    said_at: [item IN items | item.said_at.epochSeconds * 1000000 + item.said_at.microsecond],
    conversation_id: [item IN items | item.conversation_id],
    source_id: [item IN items | item.source_id],
    token_estimate: [item IN items | item.token_estimate],
    passage: [item IN items | item.passage],
    shape_memories: [item IN items | item.shape_memories],
    // end: item_states
    text: [item IN items | CASE WHEN item.id IN content_ids THEN item.text END],
    packed_vectors: [item IN items | CASE WHEN item.id IN content_ids THEN item.packed_vectors END]
  } AS items,
  {source_id: source_ids, id: linked_ids, type: types, strength: strengths} AS links,
  [
    item IN checked |
    [
      item.id,
      item.state,
      item.flagged,
      item.valid_to.epochSeconds * 1000000 + item.valid_to.microsecond,
      coalesce(item.weight_modifier, 1.0)
    ]] AS checked
