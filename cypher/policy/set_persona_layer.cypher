// Change the policy of one persona. Its next run reschedules every memory.
//
// $tenant_id   string
// $persona_id  string
// $policy      string, JSON
// $event       map {id, action, by, at}
//
// Returns persona_id; nothing when there is no such persona.
CYPHER 25
MATCH (persona:Persona {tenant_id: $tenant_id, id: $persona_id})
WHERE persona.copying IS NULL
// Lock before reading what it was.
SET persona.lock = true
REMOVE persona.lock
CREATE
  (event:Event {
    tenant_id: $tenant_id,
    written_at: datetime.realtime(),
    before: persona.policy,
    after: $policy
  })
    -[:ABOUT]->(persona)
SET event += $event
SET
  persona.policy = $policy,
  persona.policy_version = coalesce(persona.policy_version, 0) + 1
RETURN persona.id AS persona_id
