// Replace the steps of a run by counts. From then on it can be read, and not be undone.
//
// $tenant_id   string
// $persona_id  string
// $run_id      string
// $folded      string, JSON: by stage, counts
// $folded_at   zoned datetime
CYPHER 25
MATCH (persona:Persona {tenant_id: $tenant_id, id: $persona_id})
MATCH (run:Run {tenant_id: $tenant_id, id: $run_id})
WHERE run.state IN ['done', 'undone']
SET
  run.folded = $folded,
  run.folded_at = $folded_at,
  persona.folded_until = run.as_of
WITH run
MATCH (run)-[:DID]->(step:Step)
DETACH DELETE step
