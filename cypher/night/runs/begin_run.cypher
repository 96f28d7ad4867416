// Open a run of a persona, or take over the one that another worker left open.
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
// Takes the persona's lock, so that of two workers the second sees what the first has done.
SET persona.lock = true
REMOVE persona.lock
WITH
  persona,
  // Real time, not the engine's: a lease is between processes, whatever day the persona lives in.
  coalesce(persona.run_until >= datetime(), false) AND persona.run_worker <> $worker AS busy
OPTIONAL MATCH (open:Run {tenant_id: $tenant_id, id: persona.open_run})
OPTIONAL MATCH (held:Run {tenant_id: $tenant_id, persona_id: $persona_id, holds: $run.period})
WITH persona, busy, coalesce(open, held) AS found
CALL (persona, busy, found) {
  WITH persona, busy, found
  WHERE NOT busy AND found IS NULL
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
  WITH persona, busy, found
  WHERE busy OR found IS NOT NULL
  RETURN found AS run
}
FOREACH (mine IN CASE WHEN NOT busy AND run.state = 'open' THEN [1] ELSE [] END |
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
