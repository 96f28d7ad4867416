// Some items with property values that an index or a night cannot take.
//
// $longest  map {category, fact, about}: characters that each may have
// $limit    integer
//
// Returns tenant_id, id, content.
CYPHER 25
MATCH (item:Candidate|Memory)
WHERE
  size(item.category) > $longest.category OR
  size(item.fact) > $longest.fact OR
  size(item.about) > $longest.about OR
  NOT coalesce(item.valence IS :: INTEGER | FLOAT, true) OR
  NOT coalesce(item.arousal IS :: INTEGER | FLOAT, true) OR
  NOT coalesce(-1 <= item.valence <= 1, true) OR
  NOT coalesce(0 <= item.arousal <= 1, true)
RETURN item.tenant_id AS tenant_id, item.id AS id, item.content AS content
LIMIT $limit
