// Close a night and set the persona's next one.
//
// $tenant_id      string
// $persona_id     string
// $day            date
// $worker         string, the one that opened it
// $stages         list of strings, what was done, in order
// $finished_at    zoned datetime
// $next_night_at  zoned datetime
//
// Returns day; nothing when another worker has taken the night over.
CYPHER 25
MATCH (persona:Persona {tenant_id: $tenant_id, id: $persona_id})-[:SLEPT]->(night:Night {day: $day})
WHERE night.worker = $worker
SET
  night.stages = $stages,
  night.finished_at = coalesce(night.finished_at, $finished_at),
  // A night run by hand for a later day must not be undone by an older one that ends after it.
  persona.next_night_at =
    CASE
      WHEN persona.next_night_at > $next_night_at THEN persona.next_night_at
      ELSE $next_night_at
    END
REMOVE night.lease_until, persona.night_sent_at
RETURN night.day AS day
