// Flag messages of one conversation, with all that follows from it: candidates drawn from them are suppressed,
// and memories drawn from them, with the links that go out from these, lose weight. Nothing is deleted. Only
// the memory of the persona that each message belongs to changes. A message that is flagged already keeps its
// flag.
//
// One statement with ten sections: run as three in one transaction, flagging took 1.8 times as long.
//
//   1 Lock the conversation
//   2 Flags on the messages
//   3 Candidates and memories drawn from them
//   4 Weights of memories and links
//   5 Facts: until when they hold
//   6 Shapes that speak of them
//   7 Summaries of checkpoints
//   8 The persona's acknowledgment
//   9 Events, the range and the change log
//  10 What is returned
//
// $tenant_id        string
// $conversation_id  string
// $message_ids      list of strings
// $act              map {id, is_range, by, at}: this act of flagging
// $personas         map, by persona id: maps {young_after: what was said later is young; factor: what one
//                   act leaves of a weight; factor_of, factors: lists, the `type/category` or type that has
//                   another factor, and that factor}
// $ack              map {id, persona_id, single, range, several, plainest, since}: what the persona may say.
//                   If the same person was given an acknowledgment since then, that one becomes plural
//                   instead, in the words of the persona that gave it: several, by persona id, or plainest
//
// Returns records, maps {message_id, flag} of the messages that were found, in the order given;
// candidate_ids, memory_ids, checkpoint_ids, links (maps {from_id, to_id, type}): what this call has changed;
// shape_ids: shapes that it has withdrawn;
// acknowledgment: a map, or null when no message was newly flagged.
CYPHER 25
// ── 1 Lock the conversation ─────────────────────────────────────────────────────────────────────────────
MATCH (conversation:Conversation {tenant_id: $tenant_id, id: $conversation_id})
// One act at a time in a conversation, so that overlapping ranges come out as if one had been first.
SET conversation.lock = true
REMOVE conversation.lock
WITH conversation

// ── 2 Flags on the messages ─────────────────────────────────────────────────────────────────────────────
CALL () {
  UNWIND $message_ids AS id
  MATCH (message:Message {tenant_id: $tenant_id, id: id, conversation_id: $conversation_id})
  RETURN
    collect(CASE WHEN NOT coalesce(message.flagged, false) THEN message END) AS new_messages,
    count(message) AS selected,
    count(CASE WHEN message.said_at > $personas[message.persona_id].young_after THEN 1 END) AS young
}
// Mixed: the whole selection, flagged before or not, holds both old and young messages.
WITH conversation, new_messages, 0 < young < selected AS mixed
CALL (new_messages, mixed) {
  UNWIND range(0, size(new_messages) - 1) AS place
  WITH new_messages[place] AS message, place, mixed
  WITH message, place, mixed, $personas[message.persona_id] AS rules
  CREATE
    (flag:Flag {
      tenant_id: $tenant_id,
      id: $act.id + CASE WHEN $act.is_range THEN '-' + toString(place) ELSE '' END,
      act: $act.id,
      flagged_at: $act.at,
      flagged_by: $act.by,
      range_id: CASE WHEN $act.is_range THEN $act.id END,
      scope:
        CASE
          WHEN message.said_at > rules.young_after THEN 'context_and_memory'
          WHEN $act.is_range AND NOT mixed THEN 'context_and_memory'
          ELSE 'context_only'
        END,
      factor: rules.factor,
      factor_of: rules.factor_of,
      factors: rules.factors
    })
  CREATE (flag)-[:FLAGS]->(message)
  SET
    message.flagged = true,
    message.flag_id = flag.id
}

// ── 3 Candidates and memories drawn from them ───────────────────────────────────────────────────────────
CALL (new_messages) {
  UNWIND new_messages AS message
  MATCH (item:Candidate|Memory)-[:DRAWN_FROM]->(message)
  WHERE item.persona_id = message.persona_id
  WITH DISTINCT item
  ORDER BY item.id
  // Lock before reading: the night may just be making a memory of it.
  SET item.lock = true
  REMOVE item.lock
  WITH item, coalesce(item.flagged, false) AS was_flagged, item:Memory AS is_memory, item.state AS state
  SET
    item.flagged = true,
    item.state = CASE WHEN state IN ['pending', 'passed_over'] THEN 'suppressed' ELSE state END,
    item.deprioritized_at =
      CASE WHEN is_memory THEN null ELSE coalesce(item.deprioritized_at, $act.at) END
  RETURN
    collect(CASE WHEN is_memory THEN item END) AS memories,
    collect(CASE WHEN is_memory THEN item.id END) AS memory_ids,
    collect(CASE WHEN state IN ['pending', 'passed_over'] THEN item.id END) AS candidate_ids,
    collect(CASE WHEN NOT was_flagged OR item.state <> state THEN item END) AS moved
}

// ── 4 Weights of memories and links ─────────────────────────────────────────────────────────────────────
// fragment: weights_from_flags
CALL (memories) {
  UNWIND memories AS memory
  WITH
    memory,
    reduce(
      weight = coalesce(memory.own_modifier, 1.0),
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
    ) AS weight
  WITH memory, weight, memory.weight_modifier <> weight AS moved
  SET
    memory.weight_modifier = weight,
    memory.minimized = weight < 1
  WITH memory, moved
  OPTIONAL MATCH
    (memory)
      -[link:RELATED|ENABLES|VALIDATES|CONTRADICTS|EXTENDS|PRECEDES|CAUSALLY_LINKED]->
      (other)
  WITH memory, moved, link, other, link.weight_modifier <> memory.weight_modifier AS link_moved
  SET link.weight_modifier = memory.weight_modifier
  RETURN
    collect(
      CASE WHEN link IS NOT NULL
        THEN {from_id: memory.id, to_id: other.id, type: type(link)}
      END
    ) AS links,
    collect(DISTINCT CASE WHEN moved OR link_moved THEN memory END) +
      collect(DISTINCT CASE WHEN link_moved THEN other END) AS reweighted
}
// end: weights_from_flags

// ── 5 Facts: until when they hold ───────────────────────────────────────────────────────────────────────
CALL (memories) {
  UNWIND memories AS touched
  WITH touched
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
  RETURN collect(memory) AS settled
}

// ── 6 Shapes that speak of them ─────────────────────────────────────────────────────────────────────────
CALL (memories) {
  UNWIND memories AS memory
  MATCH (memory)-[:SHAPED_INTO*1..3]->(shape:Memory)
  WITH DISTINCT shape
  ORDER BY shape.id
  // Lock before reading: the night may just be drawing it.
  SET shape.lock = true
  REMOVE shape.lock
  WITH shape, properties(shape).state AS state
  WHERE state <> 'withdrawn'
  RETURN collect(shape) AS shapes
}
// fragment: withdrawn_shapes
CALL (shapes) {
  UNWIND shapes AS shape
  SET
    shape.withdrawn_state = shape.state,
    shape.state = 'withdrawn',
    shape.text = '',
    shape.content = '{}',
    shape.token_estimate = 0,
    shape.shape_memories = 0
  REMOVE shape.embedding, shape.packed_vectors, shape.known_share
  WITH shape
  MATCH (shape)-[:FELT_AS]->(experience:ShapeExperience)
  SET
    experience.connected_themes = '',
    experience.felt_absence = '',
    experience.emotional_residue = 0.0,
    experience.temporal_marker = '',
    experience.sense_of_loss = ''
  WITH shape
  CALL (shape) {
    // What was said of it when it was recalled may name what it spoke of.
    MATCH (recall:Recall)-[:RECALLED]->(shape)
    SET recall.response = ''
  }
  OPTIONAL MATCH
    (shape)-[link:RELATED|ENABLES|VALIDATES|CONTRADICTS|EXTENDS|PRECEDES|CAUSALLY_LINKED]-(other:Memory)
  DELETE link
  RETURN collect(DISTINCT shape) AS withdrawn, collect(DISTINCT other) AS unlinked
}
// end: withdrawn_shapes

// ── 7 Summaries of checkpoints ──────────────────────────────────────────────────────────────────────────
CALL (new_messages) {
  UNWIND new_messages AS message
  MATCH (message)<-[:COVERS]-(checkpoint:Checkpoint)
  // fragment: refreshed_summaries ($now → $act.at)
  WITH DISTINCT checkpoint
  CALL (checkpoint) {
    MATCH (checkpoint)-[:COVERS]->(message:Message)
    RETURN
      collect(CASE WHEN NOT coalesce(message.flagged, false) THEN message.id END) AS unflagged_ids
  }
  WITH
    checkpoint,
    unflagged_ids = [] AS muted,
    [
      place IN range(0, size(checkpoint.parts) - 1)
      WHERE checkpoint.part_message_ids[place] IN unflagged_ids
    ][..3] AS best
  WITH
    checkpoint,
    muted,
    reduce(
      text = '',
      part IN
        COLLECT {
          UNWIND best AS place
          RETURN checkpoint.parts[place]
          ORDER BY checkpoint.part_places[place], place
        } |
      text + CASE WHEN text = '' THEN '' ELSE '\n' END + part
    ) AS summary
  WHERE
    checkpoint.summary IS NULL OR
    checkpoint.summary <> summary OR
    checkpoint.muted <> muted
  CALL (checkpoint, summary) {
    WITH checkpoint, summary
    WHERE checkpoint.summary <> summary
    SET checkpoint.summaries = coalesce(checkpoint.summaries, 0) + 1
    CREATE
      (checkpoint)-[:HAD]->
      (:Summary {
        tenant_id: $tenant_id,
        id: checkpoint.id + '-' + toString(checkpoint.summaries),
        text: checkpoint.summary,
        made_at: checkpoint.summary_made_at,
        stale_at: $act.at
      })
  }
  SET
    checkpoint.summary_made_at =
      CASE WHEN checkpoint.summary = summary THEN checkpoint.summary_made_at ELSE $act.at END,
    checkpoint.summary = summary,
    checkpoint.muted = muted
  // end: refreshed_summaries
  RETURN collect(checkpoint.id) AS checkpoint_ids
}

// ── 8 The persona's acknowledgment ──────────────────────────────────────────────────────────────────────
// Only an acknowledgment to the same person, so that nobody learns what others have flagged.
OPTIONAL MATCH (conversation)-[:ACKNOWLEDGED {by: $act.by}]->(recent:Acknowledgment)
WHERE recent.withdrawn_at IS NULL AND recent.last_at >= $ack.since
CALL (conversation, new_messages, recent) {
  WITH conversation, new_messages, recent
  WHERE new_messages <> [] AND recent IS NULL
  CREATE
    (acknowledgment:Acknowledgment {
      tenant_id: $tenant_id,
      id: $ack.id,
      conversation_id: $conversation_id,
      persona_id: $ack.persona_id,
      text: CASE WHEN size(new_messages) > 1 THEN $ack.range ELSE $ack.single END,
      plural: size(new_messages) > 1,
      made_at: $act.at,
      last_at: $act.at
    })
  WITH conversation, acknowledgment
  OPTIONAL MATCH (conversation)-[former:ACKNOWLEDGED {by: $act.by}]->()
  DELETE former
  CREATE (conversation)-[:ACKNOWLEDGED {by: $act.by}]->(acknowledgment)
  RETURN acknowledgment
  UNION
  WITH new_messages, recent
  WHERE new_messages <> [] AND recent IS NOT NULL
  SET
    recent.text = coalesce($ack.several[recent.persona_id], $ack.plainest),
    recent.plural = true,
    recent.last_at = $act.at
  RETURN recent AS acknowledgment
  UNION
  WITH new_messages
  WHERE new_messages = []
  RETURN null AS acknowledgment
}
CALL (new_messages, acknowledgment) {
  UNWIND new_messages AS message
  // Looked up one by one: without this, a plan may join all flags of the tenant.
  WITH acknowledgment, message.flag_id AS flag_id
  MATCH (flag:Flag {tenant_id: $tenant_id, id: flag_id})
  SET flag.acknowledgment_id = acknowledgment.id
}

// ── 9 Events, the range and the change log ──────────────────────────────────────────────────────────────
CALL (conversation, new_messages, acknowledgment, candidate_ids, memory_ids, checkpoint_ids) {
  WITH conversation, new_messages, acknowledgment, candidate_ids, memory_ids, checkpoint_ids
  WHERE new_messages <> []
  SET conversation.events = coalesce(conversation.events, 0) + 1
  CREATE
    (event:Event {
      tenant_id: $tenant_id,
      conversation_id: $conversation_id,
      place: conversation.events,
      id: $act.id,
      action: 'flagged',
      by: $act.by,
      at: $act.at,
      written_at: datetime.realtime(),
      seen_by: [$act.by],
      candidate_ids: candidate_ids,
      memory_ids: memory_ids,
      range_id: CASE WHEN $act.is_range THEN $act.id END,
      acknowledgment_id: acknowledgment.id,
      message_ids: [message IN new_messages | message.id]
    })
  FOREACH (message IN new_messages | CREATE (event)-[:ABOUT]->(message))
  // fragment: summarized_event
  FOREACH (changed IN CASE WHEN checkpoint_ids = [] THEN [] ELSE [1] END |
    SET conversation.events = conversation.events + 1
    CREATE
      (:Event {
        tenant_id: $tenant_id,
        conversation_id: $conversation_id,
        place: conversation.events,
        id: $act.id + '-summaries',
        effect_of: $act.id,
        action: 'summarized',
        by: 'engine',
        at: $act.at,
        written_at: datetime.realtime(),
        checkpoint_ids: checkpoint_ids
      })
  )
  // end: summarized_event
  FOREACH (once IN CASE WHEN $act.is_range THEN [1] ELSE [] END |
    CREATE
      (:Range {
        tenant_id: $tenant_id,
        id: $act.id,
        conversation_id: $conversation_id,
        message_ids: $message_ids,
        created_at: $act.at,
        created_by: $act.by
      })
  )
  RETURN count(*) AS written
}
WITH
  candidate_ids,
  memory_ids,
  checkpoint_ids,
  links,
  acknowledgment,
  [shape IN withdrawn | shape.id] AS shape_ids,
  [item IN moved + reweighted + settled + unlinked | item {.tenant_id, .persona_id, .id}] +
    [shape IN withdrawn | shape {.tenant_id, .persona_id, .id, content: true}] AS changed
// fragment: log_changes
CALL (changed) {
  UNWIND changed AS change
  WITH
    change.tenant_id AS tenant_id,
    change.persona_id AS persona_id,
    collect(DISTINCT change.id) AS item_ids,
    true IN collect(change.content) AS content
  ORDER BY tenant_id, persona_id
  MERGE (log:ChangeLog {tenant_id: tenant_id, persona_id: persona_id})
    ON CREATE SET log.revision = 0
  SET log.lock = true
  REMOVE log.lock
  // Read as one map: a property that is named may have been read before the lock.
  WITH log, item_ids, content, properties(log).revision + 1 AS revision
  SET log.revision = revision
  CREATE
    (:Change {
      tenant_id: log.tenant_id,
      persona_id: log.persona_id,
      revision: revision,
      at: datetime.realtime(),
      // Of more, a cache reads everything again.
      item_ids: CASE WHEN size(item_ids) <= 2000 THEN item_ids END,
      content: content
    })
}
// end: log_changes

// ── 10 What is returned ─────────────────────────────────────────────────────────────────────────────────
// fragment: flag_records
CALL () {
  UNWIND range(0, size($message_ids) - 1) AS place
  MATCH
    (message:Message {
      tenant_id: $tenant_id,
      id: $message_ids[place],
      conversation_id: $conversation_id
    })
  // Looked up one by one: without this, a plan may join all flags of the tenant.
  WITH message, place, message.flag_id AS flag_id
  MATCH (flag:Flag {tenant_id: $tenant_id, id: flag_id})
  WITH message, flag, place
  ORDER BY place
  RETURN collect({message_id: message.id, flag: flag {.*}}) AS records
}
// end: flag_records
RETURN
  records,
  candidate_ids,
  memory_ids,
  checkpoint_ids,
  links,
  shape_ids,
  acknowledgment {.id, .persona_id, .text, .plural, .made_at} AS acknowledgment
