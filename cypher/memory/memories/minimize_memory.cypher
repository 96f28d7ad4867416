// Set the weight of a memory and its outgoing links by hand. Flags on its messages lower the weight further.
//
// $tenant_id     string
// $memory_id     string
// $user_id       string or null: with a user, only if all its messages are in instances they are a member of,
//                and one of them is theirs, or of an instance they are an admin of
// $instance_ids  list of strings or null: with a list, only these of the user's instances
// $modifier      float: what is left of its weight; 1 for all of it
// $event         map {id, action, by, at}
//
// Returns persona_id; changed_ids: its id and those of the memories that its links go to, nothing when no
// weight has changed. No row when there is no such memory for this caller. An event is written when the weight
// set by hand has changed.
CYPHER 25
MATCH (memory:Memory {tenant_id: $tenant_id, id: $memory_id})
SET memory.lock = true
REMOVE memory.lock
WITH memory
WHERE
  // fragment: changeable_item (item → memory)
  ($user_id IS NULL OR
    (EXISTS { (memory)-[:DRAWN_FROM]->() } AND
      NOT EXISTS {
        MATCH (memory)-[:DRAWN_FROM]->()<-[:CONTAINS]-()<-[:HOLDS]-(instance)
        WHERE
          NOT instance.id IN coalesce($instance_ids, [instance.id]) OR
          NOT EXISTS {
            (:User {tenant_id: $tenant_id, id: $user_id})-[:MEMBER_OF]->(instance)
          }
      })) AND
  ($user_id IS NULL OR
    EXISTS {
      MATCH
        (memory)-[:DRAWN_FROM]->(message)
          <-[:CONTAINS]-()<-[:HOLDS]-()
          <-[member:MEMBER_OF]-({id: $user_id})
      WHERE message.user_id = $user_id OR member.role = 'admin'
    })
  // end: changeable_item
WITH
  memory,
  memory.weight_modifier AS before,
  memory.flagged AS was_flagged,
  coalesce(memory.own_modifier, 1.0) <> $modifier OR
  ($modifier = 1 AND coalesce(memory.own_flagged, false)) AS changed,
  reduce(
    weight = toFloat($modifier),
    // fragment: flag_factors
    factor IN
      COLLECT {
        MATCH (memory)-[:DRAWN_FROM]->(message:Message)<-[:FLAGS]-(flag:Flag)
        WHERE flag.reversed_at IS NULL AND message.persona_id = memory.persona_id
        WITH
          flag.act AS act,
          min(
            coalesce(
              [
                place IN range(0, size(flag.factor_of) - 1)
                WHERE flag.factor_of[place] = memory.memory_type + '/' + memory.category |
                flag.factors[place]
              ][0],
              [
                place IN range(0, size(flag.factor_of) - 1)
                WHERE flag.factor_of[place] = memory.memory_type |
                flag.factors[place]
              ][0],
              flag.factor
            )
          ) AS factor
        RETURN factor
        ORDER BY act
      } |
    weight * factor
    // end: flag_factors
  ) AS after
SET
  memory.own_modifier = CASE WHEN $modifier < 1 THEN $modifier END,
  // The flag that a duplicate has inherited is taken back with it.
  memory.own_flagged = CASE WHEN $modifier < 1 THEN memory.own_flagged END,
  memory.flagged =
    ($modifier < 1 AND coalesce(memory.own_flagged, false)) OR
    EXISTS { (memory)-[:DRAWN_FROM]->(:Message {flagged: true, persona_id: memory.persona_id}) },
  memory.weight_modifier = after,
  memory.minimized = after < 1
FOREACH (once IN CASE WHEN changed THEN [1] ELSE [] END |
  CREATE
    (:Event {
      tenant_id: $tenant_id,
      id: $event.id,
      action: $event.action,
      by: $event.by,
      at: $event.at,
      written_at: datetime.realtime(),
      before: toString(before),
      after: toString(after)
    })-[:ABOUT]->(memory)
)
WITH memory, after, before <> after OR was_flagged <> memory.flagged AS moved
OPTIONAL MATCH
  // fragment: link_types
  (memory)-[link:RELATED|ENABLES|VALIDATES|CONTRADICTS|EXTENDS|PRECEDES|CAUSALLY_LINKED]->(other)
WITH memory, after, moved, link, other, link.weight_modifier <> after AS link_moved
SET link.weight_modifier = after
WITH memory, moved, collect(DISTINCT CASE WHEN link_moved THEN other.id END) AS linked_ids
RETURN
  memory.persona_id AS persona_id,
  CASE WHEN moved OR linked_ids <> [] THEN [memory.id] + linked_ids ELSE [] END AS changed_ids
