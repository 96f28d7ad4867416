// The candidates of a persona in some states that the caller may see, by id.
//
// $tenant_id     string
// $persona_id    string
// $states        list of strings
// $user_id       string or null: with a user, only those all of whose messages are in instances they are a
//                member of
// $instance_ids  list of strings or null: with a list, only these of the user's instances
// $viewer        string or null: with a user, a candidate suppressed only by flags they may not see counts as
//                pending
// $after         string, the last id of the previous page, or ''
// $limit         integer
//
// Returns candidate, with acts: how many acts of flagging suppress it, and shown_acts.
CYPHER 25
MATCH (candidate:Candidate)
WHERE
  candidate.tenant_id = $tenant_id AND
  candidate.persona_id = $persona_id AND
  candidate.state IN
    CASE WHEN $viewer IS NOT NULL AND 'pending' IN $states
      THEN $states + 'suppressed'
      ELSE $states
    END AND
  candidate.id > $after AND
  // fragment: visible_item (item → candidate)
  ($user_id IS NULL OR
    (EXISTS { (candidate)-[:DRAWN_FROM]->() } AND
      NOT EXISTS {
        MATCH (candidate)-[:DRAWN_FROM]->()<-[:CONTAINS]-()<-[:HOLDS]-(instance)
        WHERE
          NOT instance.id IN coalesce($instance_ids, [instance.id]) OR
          NOT EXISTS {
            (:User {tenant_id: $tenant_id, id: $user_id})-[:MEMBER_OF]->(instance)
          }
      })) AND
  // end: visible_item
  ($viewer IS NULL OR
    candidate.state <> 'suppressed' OR
    CASE
      WHEN
        EXISTS {
          MATCH (candidate)-[:DRAWN_FROM]->(message)<-[:FLAGS]-(flag)
          WHERE
            flag.reversed_at IS NULL AND
            message.persona_id = candidate.persona_id AND
            (flag.flagged_by = $viewer OR
              EXISTS {
                (message)<-[:CONTAINS]-()<-[:HOLDS]-()<-[:MEMBER_OF {role: 'admin'}]-({id: $viewer})
              })
        }
        THEN 'suppressed'
      ELSE 'pending'
    END IN $states)
WITH candidate
ORDER BY candidate.id
LIMIT $limit
RETURN
  candidate {
    // fragment: candidate_properties
    .id,
    .persona_id,
    .memory_type,
    .text,
    .content,
    .extracted_at,
    .state,
    .flagged,
    .deprioritized_at,
    acts:
      COUNT {
        MATCH (candidate)-[:DRAWN_FROM]->(message)<-[:FLAGS]-(flag)
        WHERE flag.reversed_at IS NULL AND message.persona_id = candidate.persona_id
        RETURN DISTINCT flag.act
      },
    shown_acts:
      COUNT {
        MATCH (candidate)-[:DRAWN_FROM]->(message)<-[:FLAGS]-(flag)
        WHERE
          flag.reversed_at IS NULL AND
          message.persona_id = candidate.persona_id AND
          ($viewer IS NULL OR
            flag.flagged_by = $viewer OR
            EXISTS {
              (message)<-[:CONTAINS]-()<-[:HOLDS]-()<-[:MEMBER_OF {role: 'admin'}]-({id: $viewer})
            })
        RETURN DISTINCT flag.act
      },
    sources:
      COLLECT {
        MATCH (candidate)-[:DRAWN_FROM]->(message)
        RETURN message.id
        ORDER BY message.said_at, message.id
      }
    // end: candidate_properties
  } AS candidate
ORDER BY candidate.id
