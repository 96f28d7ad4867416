// Read a whole persona to keep it in memory, if it is small: its items, their links, and the revision of its log.
//
// $tenant_id   string
// $persona_id  string
// $limit       integer: items, archived ones counted; of a persona with more, nothing is read
//
// Returns revision: 0 when nothing was ever logged. items: null for a larger persona; else for each property that
// ranking needs a list over the items that are not archived; times in microseconds. links: of all memories, as lists of
// source_id, id, type and strength, times weight_modifier.
CYPHER 25
OPTIONAL MATCH (log:ChangeLog {tenant_id: $tenant_id, persona_id: $persona_id})
// Read first: what changes while the items are read is applied afterwards.
WITH coalesce(log.revision, 0) AS revision
CALL () {
  CALL () {
    UNWIND ['active', 'pending', 'suppressed', 'archived'] AS state
    MATCH (item:Memory)
      USING INDEX SEEK item:Memory(tenant_id, persona_id, state, id)
    WHERE
      item.tenant_id = $tenant_id AND
      item.persona_id = $persona_id AND
      item.state = state AND
      item.id > ''
    RETURN item
    LIMIT $limit + 1
    UNION ALL
    UNWIND ['active', 'pending', 'suppressed'] AS state
    MATCH (item:Candidate)
      USING INDEX SEEK item:Candidate(tenant_id, persona_id, state, id)
    WHERE
      item.tenant_id = $tenant_id AND
      item.persona_id = $persona_id AND
      item.state = state AND
      item.id > ''
    RETURN item
    LIMIT $limit + 1
  }
  RETURN collect(item) AS found
}
WITH revision, CASE WHEN size(found) <= $limit THEN found END AS found
CALL (found) {
  UNWIND found AS source
  MATCH
    (source)
      // fragment: link_types
      -[link:RELATED|ENABLES|VALIDATES|CONTRADICTS|EXTENDS|PRECEDES|CAUSALLY_LINKED]->
    (item:Memory)
  // Links of shapes are not followed.
  WHERE
    source.state IN ['active', 'archived'] AND
    NOT source:ForgottenShape AND
    NOT item:ForgottenShape
  RETURN
    {
      source_id: collect(source.id),
      id: collect(item.id),
      type: collect(type(link)),
      strength: collect(link.strength * link.weight_modifier)
    } AS links
}
WITH revision, links, found, [item IN found WHERE item.state <> 'archived'] AS items
RETURN
  revision,
  links,
  CASE
    WHEN found IS NOT NULL THEN
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
        text: [item IN items | item.text],
        packed_vectors: [item IN items | item.packed_vectors]
      }
  END AS items
