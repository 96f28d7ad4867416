// Replace the properties that indexes are made over.
//
// $items  list of maps {tenant_id, id, index_properties: map {about, category, fact, valence, arousal}}
CYPHER 25
UNWIND $items AS row
MATCH (item:Candidate|Memory {tenant_id: row.tenant_id, id: row.id})
SET item += row.index_properties
