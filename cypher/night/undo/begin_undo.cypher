// Begin to undo a run: the newest of its persona that is not undone yet.
//
// $tenant_id  string
// $run_id     string
// $worker     string, unique to the attempt
// $seconds    integer, after which a silent worker counts as dead
//
// Returns persona_id; state of the run before; newer: the id of a later run that has to be undone first,
// or null; busy: whether another worker holds a run; folded: whether its steps are deleted. Nothing when
// there is no such run.
CYPHER 25
MATCH (persona:Persona)-[:SLEPT]->(run:Run {tenant_id: $tenant_id, id: $run_id})
SET persona.lock = true
REMOVE persona.lock
WITH
  persona,
  run,
  run.state AS state,
  coalesce(persona.run_until >= datetime(), false) AND persona.run_worker <> $worker AS busy
OPTIONAL MATCH (persona)-[:SLEPT]->(later:Run)
WHERE later.id > run.id AND later.state <> 'undone'
WITH persona, run, state, busy, max(later.id) AS newer
FOREACH (once IN
  CASE
    WHEN NOT busy AND newer IS NULL AND state <> 'undone' AND run.folded_at IS NULL THEN [1]
    ELSE []
  END |
  SET
    run.state = 'undoing',
    persona.open_run = run.id,
    persona.run_worker = $worker,
    persona.run_until = datetime() + duration({seconds: $seconds})
)
RETURN persona.id AS persona_id, state, newer, busy, run.folded_at IS NOT NULL AS folded
