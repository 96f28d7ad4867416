// Open a run of a persona, or take over one that another worker left open.
//
// $tenant_id   string
// $persona_id  string
// $run         map {id, kind, period, as_of, started_by}
// $worker      string, unique to the attempt
// $seconds     integer, after which a silent worker counts as dead
//
// Returns busy: whether another worker is inside a run of this persona; run: the one to go on with,
// or the one of this period when it is over; slept_at: the time of the night before; policy_version:
// how often the policy has changed; rescheduled_version: up to which change memories were rescheduled.
// Nothing when there is no such persona.
CYPHER 25
MATCH (persona:Persona {tenant_id: $tenant_id, id: $persona_id})
// Lock before reading, so that of two workers the second sees what the first has done.
SET persona.lock = true
REMOVE persona.lock
WITH
  persona,
  // Real time, not the engine's: a lease is between processes.
  coalesce(persona.run_until >= datetime(), false) AND persona.run_worker <> $worker AS busy
OPTIONAL MATCH (unfinished:Run {tenant_id: $tenant_id, id: persona.open_run})
OPTIONAL MATCH (of_period:Run {tenant_id: $tenant_id, persona_id: $persona_id, holds: $run.period})
WITH persona, busy, coalesce(unfinished, of_period) AS existing
CALL (persona, busy, existing) {
  WITH persona, busy, existing
  WHERE NOT busy AND existing IS NULL
  CREATE
    (persona)-[:SLEPT]->(run:Run {
      tenant_id: $tenant_id,
      persona_id: $persona_id,
      holds: $run.period,
      state: 'open',
      began_at: datetime(),
      steps: 0,
      stages: []
    })
  SET run += $run
  RETURN run
  UNION
  WITH persona, busy, existing
  WHERE busy OR existing IS NOT NULL
  RETURN existing AS run
}
FOREACH (once IN CASE WHEN NOT busy AND run.state = 'open' THEN [1] ELSE [] END |
  SET
    persona.open_run = run.id,
    persona.run_worker = $worker,
    persona.run_until = datetime() + duration({seconds: $seconds})
)
RETURN
  busy,
  run {
    .id,
    .kind,
    .period,
    .as_of,
    .state,
    .stages
  } AS run,
  persona.slept_at AS slept_at,
  coalesce(persona.policy_version, 0) AS policy_version,
  coalesce(persona.rescheduled_version, 0) AS rescheduled_version
