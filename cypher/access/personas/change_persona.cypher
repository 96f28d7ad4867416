// Change some properties of a persona.
//
// $tenant_id   string
// $persona_id  string
// $changes     map, any of {name, identity, tone, time_zone, updated_at, next_night_at}
// $event       map {id, action, by, at}
// $audited     list of strings, the properties whose former values the audit event keeps
// $after       string, what the audit event says of the new values
//
// Returns persona; nothing when there is none.
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
    before:
      reduce(text = '', name IN $audited | text + name + ': ' + coalesce(persona[name], '') + ', '),
    after: $after
  })
    -[:ABOUT]->(persona)
SET event += $event
SET persona += $changes
RETURN
  persona {
    // fragment: persona_properties
    .id,
    .name,
    .identity,
    .tone,
    .time_zone,
    .created_at,
    .updated_at
    // end: persona_properties
  } AS persona
