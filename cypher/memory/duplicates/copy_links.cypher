// Copy the links that go out from some memories, with their strength and without their counts of use.
//
// $tenant_id   string
// $persona_id  string
// $copy_id     string
// $worker      string
// $seconds     integer
// $rows        list of strings, ids of memories of the old persona
//
// Returns links: how many are there now. Nothing when another worker holds the source persona.
//
// The copies of both ends are looked up in subqueries: while few memories have been copied anywhere the
// planner would compare every copy with every other.
CYPHER 25
MATCH (source:Persona {tenant_id: $tenant_id, id: $persona_id})
WHERE source.run_worker = $worker
SET source.run_until = datetime() + duration({seconds: $seconds})
WITH source
CALL () {
  UNWIND $rows AS id
  MATCH
    (memory:Memory {tenant_id: $tenant_id, id: id})
      // fragment: link_types
      -[link:RELATED|ENABLES|VALIDATES|CONTRADICTS|EXTENDS|PRECEDES|CAUSALLY_LINKED]->
    (other:Memory)
  CALL (memory) {
    MATCH (source_copy:Memory {tenant_id: $tenant_id, persona_id: $copy_id, copied_from: memory.id})
    RETURN source_copy
  }
  CALL (other) {
    MATCH (target_copy:Memory {tenant_id: $tenant_id, persona_id: $copy_id, copied_from: other.id})
    RETURN target_copy
  }
  MERGE (source_copy)-[made:$(type(link))]->(target_copy)
    ON CREATE SET made = link {.*, coactivations: 0, coactivated_at: null}
  RETURN count(made) AS links
}
RETURN links
