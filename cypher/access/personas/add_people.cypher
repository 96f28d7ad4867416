// Add names of people who have spoken to a persona. Of all names, the latest are kept.
//
// $tenant_id  string
// $met        list of maps {persona_id, names}
// $most       integer: names that a persona keeps
CYPHER 25
UNWIND $met AS row
MATCH (persona:Persona {tenant_id: $tenant_id, id: row.persona_id})
SET persona.lock = true
REMOVE persona.lock
WITH
  persona,
  coalesce(persona.people, []) +
    [name IN row.names WHERE NOT name IN coalesce(persona.people, [])] AS people
SET
  persona.people =
    people[CASE WHEN size(people) > $most THEN size(people) - $most ELSE 0 END..]
