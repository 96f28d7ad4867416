// Compute again until when facts hold, after some of them have changed: a fact holds until the first later one
// that contradicts it and is active and not flagged.
//
// $tenant_id   string
// $memory_ids  list of strings: what has changed: memories, or candidates that were memories
//
// Returns id, before: its former end; of the facts whose end has changed.
CYPHER 25
UNWIND $memory_ids AS id
MATCH (touched:Candidate|Memory {tenant_id: $tenant_id, id: id})
WHERE touched.fact IS NOT NULL
// fragment: settled_facts
CALL (touched) {
  // The facts that it may have ended: earlier ones of the same name, and, unless only one value can hold at
  // a time, of the same value.
  MATCH (memory:Memory)
    USING INDEX memory:Memory(tenant_id, persona_id, fact, said_at)
  WHERE
    memory.tenant_id = $tenant_id AND
    memory.persona_id = touched.persona_id AND
    memory.fact = touched.fact AND
    memory.said_at <= touched.said_at AND
    (memory.id = touched.id OR
      touched.fact_arity = 'single' OR
      memory.fact_value = touched.fact_value OR
      (touched.fact_arity = 'plan' AND
        (memory.fact_value + ' ' STARTS WITH touched.fact_value + ' ' OR
          touched.fact_value + ' ' STARTS WITH memory.fact_value + ' ')))
  RETURN memory
}
WITH DISTINCT memory
ORDER BY memory.id
// Lock before reading: another transaction may be flagging a fact of the same name.
SET memory.lock = true
REMOVE memory.lock
WITH memory
CALL (memory) {
  OPTIONAL MATCH (later:Memory)
    USING INDEX later:Memory(tenant_id, persona_id, fact, said_at)
  WHERE
    later.tenant_id = $tenant_id AND
    later.persona_id = memory.persona_id AND
    later.fact = memory.fact AND
    later.said_at >= memory.said_at AND
    (later.said_at > memory.said_at OR later.id > memory.id) AND
    later.state = 'active' AND
    NOT later.flagged AND
    CASE
      WHEN
        later.fact_value = memory.fact_value OR
        (memory.fact_arity = 'plan' AND
          (later.fact_value + ' ' STARTS WITH memory.fact_value + ' ' OR
            memory.fact_value + ' ' STARTS WITH later.fact_value + ' '))
        THEN later.fact_stance <> memory.fact_stance
      ELSE later.fact_arity = 'single' AND later.fact_stance AND memory.fact_stance
    END
  WITH later
  ORDER BY later.said_at, later.id
  LIMIT 1
  RETURN later.said_at AS valid_to
}
WITH memory, memory.valid_to AS before, valid_to
WHERE coalesce(before <> valid_to, before IS NOT NULL OR valid_to IS NOT NULL)
SET memory.valid_to = valid_to
// end: settled_facts
RETURN memory.id AS id, before
