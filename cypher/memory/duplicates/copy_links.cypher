// Copy the links that go out from some memories, with their strength and without their use.
//
// $tenant_id   string
// $persona_id  string
// $copy_id     string
// $worker      string
// $seconds     integer
// $rows        list of strings, ids of memories of the old persona
//
// Returns links: how many are there now. Nothing when the old persona is not held any more.
//
// The copies of both ends are looked up in subqueries: while few memories have been copied anywhere the
// planner would hold every copy against every other.
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
    MATCH (here:Memory {tenant_id: $tenant_id, persona_id: $copy_id, copied_from: memory.id})
    RETURN here
  }
  CALL (other) {
    MATCH (there:Memory {tenant_id: $tenant_id, persona_id: $copy_id, copied_from: other.id})
    RETURN there
  }
  MERGE (here)-[made:$(type(link))]->(there)
    ON CREATE SET made = link {.*, coactivations: 0, coactivated_at: null}
  RETURN count(made) AS links
}
RETURN links
