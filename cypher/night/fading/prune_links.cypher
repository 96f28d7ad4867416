// Delete weak links of some memories that were not used for long. They are really deleted: a weak link is noise.
// A link of a pinned memory stays; a minimized link is judged by its strength alone.
//
// $tenant_id      string
// $persona_id     string
// $run_id         string
// $place          integer, of the step that is recorded
// $as_of          zoned datetime
// $limit          integer, memories
// $changed_limit  integer, ids that are returned
// $figures        map of maps: the policy's figures by `type/category` and by type
//
// Returns memories: how many were read; pruned: how many links were deleted; pinned: how many were kept only
// because a memory is pinned; changed_ids: the ids of the ends of deleted links, up to the limit.
CYPHER 25
MATCH (run:Run {tenant_id: $tenant_id, id: $run_id})
CALL () {
  MATCH (memory:Memory)
    USING INDEX SEEK memory:Memory(tenant_id, persona_id, prune_at)
  WHERE
    memory.tenant_id = $tenant_id AND
    memory.persona_id = $persona_id AND
    memory.prune_at <= $as_of
  WITH memory, memory.prune_at AS before
  LIMIT $limit
  WITH
    memory,
    before,
    // fragment: figures_of_memory
    coalesce(
      $figures[memory.memory_type + '/' + memory.category],
      $figures[memory.memory_type]
    ) AS figures
    // end: figures_of_memory
  WITH
    memory,
    before,
    figures.prune_below AS below,
    duration({seconds: toInteger(figures.prune_days * 86400)}) AS unused
  CALL (memory, below, unused) {
    OPTIONAL MATCH
      (memory)
        // fragment: link_types
        -[link:RELATED|ENABLES|VALIDATES|CONTRADICTS|EXTENDS|PRECEDES|CAUSALLY_LINKED]->
      (other:Memory)
    WHERE link.strength < below
    SET link.lock = true
    REMOVE link.lock
    WITH memory, link, other, below, unused
    WHERE link IS NULL OR link.strength < below
    WITH memory, link, other, link.coactivated_at + unused AS due_at
    WITH
      link,
      due_at,
      link IS NOT NULL AND coalesce(due_at <= $as_of, true) AS due,
      memory.pinned OR coalesce(other.pinned, false) AS pinned
    WITH *, due AND NOT pinned AS deleted
    RETURN
      collect(CASE WHEN deleted THEN link END) AS weak,
      // When to look again: at links that were used, and at those that only a pin keeps.
      min(CASE WHEN link IS NOT NULL AND NOT deleted
        THEN CASE WHEN due_at > $as_of THEN due_at ELSE $as_of + duration({days: 1}) END
      END) AS next_at,
      sum(CASE WHEN due AND pinned THEN 1 ELSE 0 END) AS pinned
  }
  SET memory.prune_at = next_at
  RETURN
    collect(memory.id) AS memory_ids,
    collect(before) AS prune_before,
    collect(weak) AS weak,
    collect(pinned) AS pinned
}
CALL (weak) {
  UNWIND range(0, size(weak) - 1) AS position
  UNWIND weak[position] AS link
  RETURN
    collect(link) AS links,
    collect(position) AS from_places,
    collect(endNode(link).id) AS to_ids,
    collect(type(link)) AS types
}
CALL (links) {
  UNWIND links AS link
  UNWIND keys(link) AS name
  RETURN collect(DISTINCT name) AS names
}
CALL (run, memory_ids, prune_before, pinned, links, from_places, to_ids, types, names) {
  WITH *
  WHERE memory_ids <> []
  CREATE
    (run)-[:DID]->(step:Step {
      tenant_id: $tenant_id,
      run_id: $run_id,
      place: $place,
      stage: 'prune',
      kind: 'pruned',
      memory_ids: memory_ids,
      prune_before: prune_before,
      pinned: pinned,
      from_places: from_places,
      to_ids: to_ids,
      types: types,
      names: names
    })
  WITH step, links, names
  UNWIND names AS name
  WITH step, links, name, [link IN links WHERE link[name] IS NOT NULL | link[name]] AS values
  // A list holds no nulls: where a link lacks the property, another link's value stands, and `has_` is
  // false.
  SET
    step['has_' + name] = [link IN links | link[name] IS NOT NULL],
    step['all_' + name] = [link IN links | coalesce(link[name], values[0])]
}
FOREACH (link IN links |
  DELETE link
)
CALL (memory_ids, from_places, to_ids) {
  UNWIND [position IN from_places | memory_ids[position]] + to_ids AS id
  WITH DISTINCT id
  LIMIT $changed_limit
  RETURN collect(id) AS changed_ids
}
RETURN
  size(memory_ids) AS memories,
  size(to_ids) AS pruned,
  reduce(total = 0, kept IN pinned | total + kept) AS pinned,
  changed_ids
