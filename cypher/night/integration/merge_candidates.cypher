// Merge candidates into a memory that says the same, and reinforce it, unless it is flagged, archived or ended
// by now: then the candidates stay as they are.
//
// $tenant_id  string
// $rows       list of maps {memory_id, candidates: list of maps {id, similarity}}
// $as_of      zoned datetime
// $figures    map of maps: the policy's figures by `type/category` and by type
//
// Returns memory_id, text; candidates, maps {id, text, similarity}; messages, the ids of those that
// became sources of the memory; before, after: maps of what was changed.
CYPHER 25
UNWIND $rows AS row
MATCH (memory:Memory {tenant_id: $tenant_id, id: row.memory_id})
SET memory.lock = true
REMOVE memory.lock
WITH memory, row
WHERE
  memory.state = 'active' AND
  NOT memory.flagged AND
  memory.valid_to IS NULL
WITH
  memory,
  row,
  memory {.salience, .salience_at, .uses_on, .uses_today, .reinforcements} AS before,
  // fragment: figures_of_memory
  coalesce(
    $figures[memory.memory_type + '/' + memory.category],
    $figures[memory.memory_type]
  ) AS figures
  // end: figures_of_memory
CALL (memory, row) {
  UNWIND row.candidates AS given
  MATCH (candidate:Candidate {tenant_id: $tenant_id, id: given.id})
  SET candidate.lock = true
  REMOVE candidate.lock
  WITH memory, candidate, given
  WHERE candidate.state = 'pending'
  // If a flag is set at the same time, the second sees what the first has done.
  CALL (candidate) {
    MATCH (candidate)-[:DRAWN_FROM]->(message)
    WHERE message.persona_id = candidate.persona_id
    SET message.lock = true
    REMOVE message.lock
    WITH message
    WHERE coalesce(message.flagged, false)
    RETURN count(message) AS flagged
  }
  WITH memory, candidate, given, flagged
  WHERE flagged = 0
  SET
    candidate.state = 'merged',
    candidate.merged_at = $as_of
  CREATE (candidate)-[:MERGED_INTO {similarity: given.similarity}]->(memory)
  RETURN
    collect(candidate) AS merged,
    collect(candidate {.id, .text, similarity: given.similarity}) AS candidates
}
WITH memory, before, figures, merged, candidates
WHERE candidates <> []
CALL (memory, merged) {
  UNWIND merged AS candidate
  MATCH (candidate)-[:DRAWN_FROM]->(message)
  WITH DISTINCT memory, message
  WHERE NOT EXISTS { (memory)-[:DRAWN_FROM]->(message) }
  CREATE (memory)-[:DRAWN_FROM]->(message)
  RETURN collect(message.id) AS messages
}
WITH
  memory,
  before,
  figures,
  candidates,
  messages
// fragment: current_salience (memory → before, $now → $as_of)
WITH
  *,
  CASE WHEN before.salience_at < $as_of
    THEN ($as_of.epochMillis - before.salience_at.epochMillis) / 86400000.0
    ELSE 0.0
  END AS days,
  CASE WHEN before.uses_on = date($as_of) THEN before.uses_today ELSE 0 END AS uses
WITH
  *,
  CASE WHEN before.salience > figures.salience_mean
    THEN figures.salience_mean +
      (before.salience - figures.salience_mean) * exp(-figures.salience_pull * days)
    ELSE before.salience
  END AS pulled
WITH
  *,
  CASE figures.decay_curve
    WHEN 'linear' THEN pulled - figures.salience_fade * days
    WHEN 'exponential' THEN pulled * exp(-2 * figures.salience_fade * days)
    WHEN 'power' THEN pulled / (1 + 2 * figures.salience_fade * days)
    ELSE pulled
  END AS unbounded
WITH *, CASE WHEN unbounded < 0 THEN 0.0 ELSE unbounded END AS faded
// end: current_salience
SET
  memory.salience =
    reduce(
      salience = faded,
      use IN range(uses, uses + size(candidates) - 1) |
        salience + (1 - salience) * figures.salience_gain * figures.salience_repeat ^ use
    ),
  memory.salience_at = CASE WHEN days > 0 THEN $as_of ELSE before.salience_at END,
  memory.uses_on = date($as_of),
  memory.uses_today = uses + size(candidates),
  memory.reinforcements = before.reinforcements + size(candidates)
RETURN
  memory.id AS memory_id,
  memory.text AS text,
  candidates,
  messages,
  before,
  memory {.salience} AS after
