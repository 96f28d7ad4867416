// Begin to copy a persona, or continue: make the new persona, which cannot be seen yet. Copying holds the lease
// of the source persona, as a run would, so that no night runs in it meanwhile.
//
// $tenant_id   string
// $persona_id  string
// $copy        map {id, name: string or null, at}
// $worker      string, the same for every attempt at this copy
// $seconds     integer, after which silent copying counts as dead
// $event       map {id, action, by, at}
//
// Returns persona, the copy; copied_from; copying: whether the copy is incomplete; busy: whether
// a run or another copy holds the source. Nothing when there is no such persona.
CYPHER 25
MATCH (source:Persona {tenant_id: $tenant_id, id: $persona_id})
WHERE source.copying IS NULL
SET source.lock = true
REMOVE source.lock
WITH source
MATCH (tenant:Tenant {id: $tenant_id})
MERGE (copy:Persona {tenant_id: $tenant_id, id: $copy.id})
  ON CREATE SET
    copy.name = coalesce($copy.name, source.name),
    copy.identity = source.identity,
    copy.tone = source.tone,
    copy.time_zone = source.time_zone,
    copy.policy = source.policy,
    copy.policy_version = source.policy_version,
    copy.rescheduled_version = source.rescheduled_version,
    copy.created_at = $copy.at,
    copy.updated_at = $copy.at,
    copy.copied_from = source.id,
    copy.copying = $copy.at,
    copy.new = true
MERGE (tenant)-[:OWNS]->(copy)
FOREACH (once IN CASE WHEN copy.new THEN [1] ELSE [] END |
  CREATE
    (event:Event {tenant_id: $tenant_id, written_at: datetime.realtime(), after: copy.id})
      -[:ABOUT]->(source)
  CREATE (event)-[:ABOUT]->(copy)
  SET event += $event
)
REMOVE copy.new
WITH
  source,
  copy,
  copy.copying IS NOT NULL AS copying,
  source.open_run IS NOT NULL OR
  (coalesce(source.run_until >= datetime(), false) AND source.run_worker <> $worker) AS busy
FOREACH (once IN
  CASE
    WHEN copying AND NOT busy AND copy.copied_from = source.id THEN [1]
    ELSE []
  END |
  SET
    source.run_worker = $worker,
    source.run_until = datetime() + duration({seconds: $seconds})
)
RETURN
  copy {
    // fragment: persona_properties
    .id,
    .name,
    .identity,
    .tone,
    .time_zone,
    .created_at,
    .updated_at
    // end: persona_properties
  } AS persona,
  copy.copied_from AS copied_from,
  copying,
  busy
