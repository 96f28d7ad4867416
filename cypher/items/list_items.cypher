// What is, was or will be remembered, of a tenant, an instance or a persona: candidates and memories in
// one list, as far as the caller may know of them.
//
// $tenant_id    string
// $persona_id   string or null: of this persona only
// $instance_id  string or null: said in this instance only
// $user_id      string or null: with a user, only what was said in instances they are a member of
// $standing     string or null: `active`, `pending`, `archived`, `removed` or `not_remembered` only
// $memory_type  string or null: of this type only
// $words        string or null: only what says this, in any case
// $sort         string: `newest`, `oldest`, `importance` or `salience`
// $after_key    float or null: of the last item of the page before
// $after_id     string: of the same
// $limit        integer
//
// Returns item, key: what it is sorted by.
CYPHER 25
MATCH (it:Candidate|Memory)
WHERE
  it.tenant_id = $tenant_id AND
  it.id IS NOT NULL AND
  it.state <> 'merged' AND
  ($persona_id IS NULL OR it.persona_id = $persona_id) AND
  ($memory_type IS NULL OR it.memory_type = $memory_type) AND
  ($words IS NULL OR toLower(it.text) CONTAINS toLower($words)) AND
  (($user_id IS NULL AND $instance_id IS NULL) OR
    EXISTS {
      MATCH (it)-[:DRAWN_FROM]->(:Message)<-[:CONTAINS]-(:Conversation)<-[:HOLDS]-(instance:Instance)
      WHERE
        ($instance_id IS NULL OR instance.id = $instance_id) AND
        ($user_id IS NULL OR
          EXISTS { (:User {tenant_id: $tenant_id, id: $user_id})-[:MEMBER_OF]->(instance) })
    })
WITH
  it,
  CASE
    WHEN it.flagged THEN 'not_remembered'
    WHEN it.state = 'passed_over' THEN 'not_remembered'
    WHEN it.state IN ['active', 'pending', 'archived', 'removed'] THEN it.state
    ELSE 'not_remembered'
  END AS standing,
  CASE $sort
    WHEN 'newest' THEN -toFloat(it.said_at.epochMillis)
    WHEN 'oldest' THEN toFloat(it.said_at.epochMillis)
    WHEN 'importance' THEN -toFloat(coalesce(it.importance, 5))
    ELSE -toFloat(coalesce(it.salience, 0.5))
  END AS key
WHERE
  ($standing IS NULL OR standing = $standing) AND
  ($after_key IS NULL OR key > $after_key OR (key = $after_key AND it.id > $after_id))
WITH it, standing, key
ORDER BY key, it.id
LIMIT $limit
RETURN
  it {
    .id,
    .persona_id,
    .memory_type,
    .text,
    .category,
    .state,
    .flagged,
    .minimized,
    .importance,
    .salience,
    .weight_modifier,
    .pinned,
    .said_at,
    .conversation_id,
    standing: standing,
    links:
      COUNT {
        (it)-[:RELATED|ENABLES|VALIDATES|CONTRADICTS|EXTENDS|PRECEDES|CAUSALLY_LINKED]-(:Memory)
      },
    sources:
      COLLECT {
        MATCH (it)-[:DRAWN_FROM]->(message)
        RETURN message.id
        ORDER BY message.said_at, message.id
      }
  } AS item,
  key
ORDER BY key, item.id
