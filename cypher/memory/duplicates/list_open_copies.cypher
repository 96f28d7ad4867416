// The copies that are incomplete and that no worker holds.
//
// $limit  integer
//
// Returns tenant_id, persona_id, copy_id.
CYPHER 25
MATCH (copy:Persona)
WHERE copy.copying IS NOT NULL
MATCH (source:Persona {tenant_id: copy.tenant_id, id: copy.copied_from})
WHERE
  NOT coalesce(source.run_until >= datetime() AND source.run_worker = 'copy:' + copy.id, false)
RETURN copy.tenant_id AS tenant_id, source.id AS persona_id, copy.id AS copy_id
LIMIT $limit
