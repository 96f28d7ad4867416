// Read up to which revision the log of a persona goes, and the stored state of the items a recall is about to return.
//
// $tenant_id   string
// $persona_id  string
// $ids         list of strings
//
// Returns revision: 0 when nothing was ever logged. checked: of each item that is stored a list of id, state, flagged,
// valid_to in microseconds, and weight_modifier.
CYPHER 25
OPTIONAL MATCH (log:ChangeLog {tenant_id: $tenant_id, persona_id: $persona_id})
// Read once: it may move while the items are read, and each value would make a row of its own.
WITH coalesce(log.revision, 0) AS revision
OPTIONAL CALL () {
  // Two searches, since one for both labels looks for every id twice and then for doubles.
  MATCH (item:Memory)
  WHERE item.tenant_id = $tenant_id AND item.id IN $ids AND item.persona_id = $persona_id
  RETURN item
  UNION ALL
  MATCH (item:Candidate)
  WHERE item.tenant_id = $tenant_id AND item.id IN $ids AND item.persona_id = $persona_id
  RETURN item
}
WITH revision, collect(item) AS items
RETURN
  revision,
  [
    item IN items |
    [
      item.id,
      item.state,
      item.flagged,
      item.valid_to.epochSeconds * 1000000 + item.valid_to.microsecond,
      coalesce(item.weight_modifier, 1.0)
    ]] AS checked
