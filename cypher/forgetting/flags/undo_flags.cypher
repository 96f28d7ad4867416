// Take back the flags of some messages of one conversation, with all that followed from them. What another
// flag still suppresses or minimizes stays so.
//
// One statement with nine sections: run as three in one transaction, taking back took 1.5 times as long.
//
//   1 Lock the conversation
//   2 Flags that are taken back
//   3 Candidates and memories drawn from their messages
//   4 Weights of memories and links
//   5 Facts: until when they hold
//   6 Summaries of checkpoints
//   7 Acknowledgments that are withdrawn
//   8 Events and the change log
//   9 What is returned
//
// $tenant_id        string
// $conversation_id  string
// $message_ids      list of strings
// $range_id         string or null: with a range, only the flags that it has set
// $flagged_by       string or null: with a user, only that user's flags
// $act              map {id, by, at, source}: this act of taking back
// $flagged_after    zoned datetime: a flag that was set earlier is not taken back
//
// Returns records, maps {message_id, flag} of the messages that were ever flagged, in the order given;
// candidate_ids, memory_ids, checkpoint_ids, links (maps {from_id, to_id, type}): what this call has changed;
// late: ids of messages flagged too long ago, in which case nothing was taken back. An acknowledgment all of
// whose flags are taken back is withdrawn.
CYPHER 25
// ── 1 Lock the conversation ─────────────────────────────────────────────────────────────────────────────
MATCH (conversation:Conversation {tenant_id: $tenant_id, id: $conversation_id})
SET conversation.lock = true
REMOVE conversation.lock
WITH conversation

// ── 2 Flags that are taken back ─────────────────────────────────────────────────────────────────────────
CALL () {
  UNWIND $message_ids AS id
  MATCH (message:Message {tenant_id: $tenant_id, id: id, conversation_id: $conversation_id})
  WHERE message.flagged
  // Looked up one by one: without this, a plan may join all flags of the tenant.
  WITH message, message.flag_id AS flag_id
  MATCH (flag:Flag {tenant_id: $tenant_id, id: flag_id})
  WHERE
    ($range_id IS NULL OR flag.range_id = $range_id) AND
    ($flagged_by IS NULL OR flag.flagged_by = $flagged_by)
  RETURN
    collect({message: message, flag: flag}) AS undone,
    collect(CASE WHEN flag.flagged_at < $flagged_after THEN message.id END) AS late
}
WITH conversation, late, CASE WHEN late = [] THEN undone ELSE [] END AS undone
CALL (undone) {
  UNWIND undone AS undo
  WITH undo.message AS message, undo.flag AS flag
  SET
    flag.reversed_at = $act.at,
    flag.reversal_source = $act.source,
    flag.reversed_by = $act.by,
    flag.reversed_in = $act.id,
    message.flagged = false
}

// ── 3 Candidates and memories drawn from their messages ─────────────────────────────────────────────────
CALL (undone) {
  UNWIND [undo IN undone | undo.message] AS message
  MATCH (item:Candidate|Memory)-[:DRAWN_FROM]->(message)
  WHERE item.persona_id = message.persona_id
  WITH DISTINCT item
  ORDER BY item.id
  SET item.lock = true
  REMOVE item.lock
  WITH
    item,
    item:Memory AS is_memory,
    item.flagged AS was_flagged,
    item.state AS state,
    coalesce(item.own_flagged, false) OR
    EXISTS {
      (item)-[:DRAWN_FROM]->(:Message {flagged: true, persona_id: item.persona_id})
    } AS still_flagged
  SET
    item.flagged = still_flagged,
    item.deprioritized_at = CASE WHEN still_flagged THEN item.deprioritized_at END,
    item.state =
      CASE
        WHEN state <> 'suppressed' OR still_flagged THEN state
        // The night has passed over it: it waits to be restored.
        WHEN item.passed_over_at IS NOT NULL THEN 'passed_over'
        ELSE 'pending'
      END
  RETURN
    collect(CASE WHEN is_memory THEN item END) AS memories,
    collect(CASE WHEN is_memory THEN item.id END) AS memory_ids,
    collect(CASE WHEN state = 'suppressed' AND NOT still_flagged THEN item.id END) AS candidate_ids,
    collect(CASE WHEN was_flagged <> still_flagged OR item.state <> state THEN item END) AS moved
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

// ── 6 Summaries of checkpoints ──────────────────────────────────────────────────────────────────────────
CALL (undone) {
  UNWIND [undo IN undone | undo.message] AS message
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

// ── 7 Acknowledgments that are withdrawn ────────────────────────────────────────────────────────────────
CALL (undone) {
  UNWIND undone AS undo
  WITH DISTINCT undo.flag.acknowledgment_id AS id
  MATCH (acknowledgment:Acknowledgment {tenant_id: $tenant_id, id: id})
  WHERE
    NOT EXISTS {
      MATCH (flag:Flag {tenant_id: $tenant_id, acknowledgment_id: id})
      WHERE flag.reversed_at IS NULL
    }
  SET acknowledgment.withdrawn_at = $act.at
  RETURN collect(acknowledgment.id) AS withdrawn
}

// ── 8 Events and the change log ─────────────────────────────────────────────────────────────────────────
CALL (conversation, undone, withdrawn, candidate_ids, memory_ids, checkpoint_ids) {
  WITH conversation, undone, withdrawn, candidate_ids, memory_ids, checkpoint_ids
  WHERE undone <> []
  SET conversation.events = coalesce(conversation.events, 0) + 1
  CREATE
    (event:Event {
      tenant_id: $tenant_id,
      conversation_id: $conversation_id,
      place: conversation.events,
      id: $act.id,
      action: 'unflagged',
      by: $act.by,
      at: $act.at,
      written_at: datetime.realtime(),
      // Whoever flagged is told, whoever took it back.
      seen_by:
        COLLECT {
          UNWIND undone AS undo
          RETURN DISTINCT undo.flag.flagged_by
        },
      candidate_ids: candidate_ids,
      memory_ids: memory_ids,
      withdrawn: withdrawn,
      source: $act.source,
      message_ids: [undo IN undone | undo.message.id]
    })
  FOREACH (undo IN undone |
    FOREACH (message IN [undo.message] | CREATE (event)-[:ABOUT]->(message))
  )
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
  RETURN count(*) AS written
}
WITH
  candidate_ids,
  memory_ids,
  checkpoint_ids,
  links,
  late,
  [item IN moved + reweighted + settled | item {.tenant_id, .persona_id, .id}] AS changed
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

// ── 9 What is returned ──────────────────────────────────────────────────────────────────────────────────
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
RETURN records, candidate_ids, memory_ids, checkpoint_ids, links, late
