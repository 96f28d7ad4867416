// Open a persona's night, unless another worker is inside it or it is over.
//
// $tenant_id   string
// $persona_id  string
// $day         date, in the persona's own time zone
// $worker      string, unique to the attempt
// $started_by  string
// $started_at  zoned datetime
// $seconds     integer, after which a silent worker counts as dead
//
// Returns mine: whether this worker has it; finished_at: when it was over, or null.
CYPHER 25
MATCH (persona:Persona {tenant_id: $tenant_id, id: $persona_id})
MERGE (night:Night {tenant_id: $tenant_id, persona_id: $persona_id, day: $day})
  ON CREATE SET
    night.started_by = $started_by,
    night.started_at = $started_at
MERGE (persona)-[:SLEPT]->(night)
// Real time, not the engine's: a lease is between processes, whatever day the persona lives in.
SET night.asked_at = datetime()
WITH
  night,
  night.finished_at IS NULL AND
  (night.lease_until IS NULL OR night.lease_until < datetime() OR night.worker = $worker) AS mine
SET
  night.worker = CASE WHEN mine THEN $worker ELSE night.worker END,
  night.lease_until =
    CASE
      WHEN mine THEN datetime() + duration({seconds: $seconds})
      ELSE night.lease_until
    END
RETURN mine, night.finished_at AS finished_at
