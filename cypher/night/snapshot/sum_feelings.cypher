// Sum up valence and arousal over a persona's active memories that have them.
//
// $tenant_id   string
// $persona_id  string
//
// Returns felt: how many; valence, arousal: sums over them.
CYPHER 25
MATCH (memory:Memory)
  USING INDEX memory:Memory(tenant_id, persona_id, state, valence)
WHERE
  memory.tenant_id = $tenant_id AND
  memory.persona_id = $persona_id AND
  memory.state = 'active' AND
  memory.valence IS NOT NULL AND
  memory.valence IS :: FLOAT | INTEGER AND
  (memory.arousal IS NULL OR memory.arousal IS :: FLOAT | INTEGER)
RETURN count(*) AS felt, sum(memory.valence) AS valence, sum(memory.arousal) AS arousal
