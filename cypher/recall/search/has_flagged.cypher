// Find out whether a persona has any flagged item that a recall may fall back to.
//
// $tenant_id   string
// $persona_id  string
// $states      list of strings
// $embedding   vector: any; the index is only asked what passes its filters
//
// Returns found: boolean.
CYPHER 25
MATCH (item:Candidate|Memory)
  SEARCH item IN (
    VECTOR INDEX meaning
    FOR $embedding
    WHERE
      item.tenant_id = $tenant_id AND
      item.persona_id = $persona_id AND
      item.flagged = true AND
      item.state IN $states
    LIMIT 1
  )
RETURN count(item) > 0 AS found
