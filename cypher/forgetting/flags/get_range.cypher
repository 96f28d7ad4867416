// One range, if the caller may see its conversation.
//
// $tenant_id     string
// $range_id      string
// $user_id       string or null: with a user, only inside an instance they are a member of
// $instance_ids  list of strings or null: with a list, only these of the user's instances
//
// Returns range, with the personas whose messages are in it; is_admin: whether the user is an admin of its
// instance. Nothing when there is none.
CYPHER 25
MATCH (range:Range {tenant_id: $tenant_id, id: $range_id})
MATCH (conversation:Conversation {tenant_id: $tenant_id, id: range.conversation_id})
WHERE
  // fragment: visible_conversation
  ($user_id IS NULL OR
    EXISTS {
      MATCH (conversation)<-[:HOLDS]-(instance)<-[:MEMBER_OF]-({id: $user_id})
      WHERE $instance_ids IS NULL OR instance.id IN $instance_ids
    })
  // end: visible_conversation
RETURN
  range {
    .id,
    .conversation_id,
    .message_ids,
    .created_at,
    .created_by,
    persona_ids:
      COLLECT {
        UNWIND range.message_ids AS id
        MATCH (message:Message {tenant_id: $tenant_id, id: id})
        WITH DISTINCT message.persona_id AS persona_id
        RETURN persona_id
        ORDER BY persona_id
      }
  } AS range,
  // fragment: conversation_admin
  EXISTS { (conversation)<-[:HOLDS]-()<-[:MEMBER_OF {role: 'admin'}]-({id: $user_id}) } AS is_admin
  // end: conversation_admin
