// Open a conversation of some personas in an instance. Doing it twice keeps the first.
//
// $tenant_id     string
// $instance_id   string
// $persona_ids   list of strings
// $conversation  map {id, title, started_at}
// $event         map {id, action, by, at}: for the audit, written when it is new
//
// Returns conversation; missing: the personas that do not exist, in which case nothing was made.
// Nothing at all when there is no such instance.
CYPHER 25
MATCH (instance:Instance {tenant_id: $tenant_id, id: $instance_id})
OPTIONAL MATCH (persona:Persona {tenant_id: $tenant_id})
WHERE persona.id IN $persona_ids AND persona.copying IS NULL
WITH instance, collect(persona) AS personas, collect(persona.id) AS found
WITH instance, personas, [id IN $persona_ids WHERE NOT id IN found] AS missing
CALL (instance, personas, missing) {
  WITH instance, personas, missing
  WHERE missing = []
  MERGE (conversation:Conversation {tenant_id: $tenant_id, id: $conversation.id})
    ON CREATE SET
      conversation += $conversation,
      conversation.fresh = true,
      conversation.instance_id = instance.id,
      conversation.persona_ids = $persona_ids
  MERGE (instance)-[:HOLDS]->(conversation)
  FOREACH (persona IN personas | MERGE (conversation)-[:WITH]->(persona))
  FOREACH (made IN CASE WHEN conversation.fresh THEN [conversation] ELSE [] END |
    REMOVE made.fresh
    CREATE
      (:Event {
        tenant_id: $tenant_id,
        id: $event.id,
        action: $event.action,
        by: $event.by,
        at: $event.at,
        written_at: datetime.realtime(),
        after: $instance_id
      })-[:ABOUT]->(made)
  )
  RETURN
    conversation {
      .id,
      .instance_id,
      .persona_ids,
      .title,
      .started_at
    } AS conversation
  UNION
  WITH missing
  WHERE missing <> []
  RETURN null AS conversation
}
RETURN conversation, missing
