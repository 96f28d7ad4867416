// Claim the personas whose night is due, the longest waiting first, to send them to workers. One that was sent
// and is still due after a while is claimed again: its job was lost.
//
// $now     zoned datetime, the engine's
// $resend  integer, seconds of real time
// $limit   integer
//
// Returns tenant_id, persona_id.
CYPHER 25
MATCH (persona:Persona)
WHERE
  persona.next_night_at <= $now AND
  (persona.night_sent_at IS NULL OR
    persona.night_sent_at < datetime() - duration({seconds: $resend}))
WITH persona
ORDER BY persona.next_night_at
LIMIT $limit
SET persona.night_sent_at = datetime()
RETURN persona.tenant_id AS tenant_id, persona.id AS persona_id
