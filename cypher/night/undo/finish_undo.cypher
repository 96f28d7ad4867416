// Close the undo of a run. Its period is free again.
//
// $tenant_id   string
// $persona_id  string
// $run_id      string
// $worker      string
// $as_of       zoned datetime
// $undone_by   string
//
// Returns id; nothing when another worker has taken over.
CYPHER 25
MATCH (persona:Persona {tenant_id: $tenant_id, id: $persona_id})
WHERE persona.open_run = $run_id AND persona.run_worker = $worker
MATCH (run:Run {tenant_id: $tenant_id, id: $run_id})
SET
  run.state = 'undone',
  run.undone_at = $as_of,
  run.undone_by = $undone_by
REMOVE run.holds, persona.open_run, persona.run_worker, persona.run_until
FOREACH (once IN
  CASE
    WHEN run.kind = 'night' AND run.finished_at IS NOT NULL THEN [1]
    ELSE []
  END |
  SET persona.slept_at = run.slept_before
)
CREATE
  (:Event {
    tenant_id: $tenant_id,
    id: 'undo-' + run.id,
    action: run.kind + '_undone',
    by: $undone_by,
    at: $as_of,
    written_at: datetime.realtime(),
    before: run.period
  })-[:ABOUT]->(run)
RETURN run.id AS id
