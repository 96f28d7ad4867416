// Close a run. A night sets the next night of the persona, and is recorded for the audit.
//
// $tenant_id        string
// $persona_id       string
// $run_id           string
// $worker           string, the one that holds it
// $finished_at      zoned datetime
// $next_night_at    zoned datetime, or null for a run that is not a night
// $finished_stages  list of maps {stage, report}: the finished stages that are not recorded yet
// $snapshot         string, JSON: counts of the persona after the run
//
// Returns id; nothing when another worker has taken the run over.
CYPHER 25
MATCH (persona:Persona {tenant_id: $tenant_id, id: $persona_id})
SET persona.lock = true
REMOVE persona.lock
WITH persona
WHERE persona.open_run = $run_id AND persona.run_worker = $worker
MATCH (run:Run {tenant_id: $tenant_id, id: $run_id})
WITH persona, run, [stage IN $finished_stages WHERE NOT stage.stage IN run.stages] AS finished
SET
  run.state = 'done',
  run.finished_at = $finished_at,
  run.ended_at = datetime(),
  run.stages = run.stages + [stage IN finished | stage.stage],
  run.reports = coalesce(run.reports, []) + [stage IN finished | stage.report],
  run.snapshot = $snapshot
REMOVE persona.open_run, persona.run_worker, persona.run_until
FOREACH (night IN CASE WHEN $next_night_at IS NULL THEN [] ELSE [1] END |
  SET
    run.slept_before = persona.slept_at,
    persona.slept_at = run.as_of,
    // An older night that ends later must not set the next night back.
    persona.next_night_at =
      CASE
        WHEN persona.next_night_at > $next_night_at THEN persona.next_night_at
        ELSE $next_night_at
      END
  REMOVE persona.night_sent_at
  // For the audit; what each stage did is in the run itself.
  CREATE
    (:Event {
      tenant_id: $tenant_id,
      id: 'night-' + run.id,
      action: 'night_run',
      by: run.started_by,
      at: run.as_of,
      written_at: datetime.realtime(),
      after: run.period
    })-[:ABOUT]->(run)
)
RETURN run.id AS id
