// How much of a tenant, an instance or a persona stands where, as far as the caller may know of it.
//
// $tenant_id    string
// $persona_id   string or null: of this persona only
// $instance_id  string or null: said in this instance only
// $user_id      string or null: with a user, only what was said in instances they are a member of
// $memory_type  string or null: of this type only
// $words        string or null: only what says this, in any case
//
// Returns standing, items.
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
  CASE
    WHEN it.flagged THEN 'not_remembered'
    WHEN it.state = 'passed_over' THEN 'not_remembered'
    WHEN it.state IN ['active', 'pending', 'archived', 'removed'] THEN it.state
    ELSE 'not_remembered'
  END AS standing,
  count(*) AS items
RETURN standing, items
ORDER BY standing
