// Delete the records of uses that nobody will report again.
//
// $tenant_id   string
// $persona_id  string
// $before      zoned datetime
CYPHER 25
MATCH (use:Use)
WHERE
  use.tenant_id = $tenant_id AND
  use.persona_id = $persona_id AND
  use.used_at < $before
DELETE use
