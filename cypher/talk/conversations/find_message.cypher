// The conversation of a message, if the caller may see it.
//
// $tenant_id     string
// $message_id    string
// $user_id       string or null: with a user, only inside an instance they are a member of
// $instance_ids  list of strings or null: with a list, only these of the user's instances
//
// Returns conversation_id; is_admin: whether the user is an admin of its instance. Nothing when there is
// none for this caller.
CYPHER 25
MATCH (message:Message {tenant_id: $tenant_id, id: $message_id})
MATCH (conversation:Conversation {tenant_id: $tenant_id, id: message.conversation_id})
WHERE
  // fragment: visible_conversation
  ($user_id IS NULL OR
    EXISTS {
      MATCH (conversation)<-[:HOLDS]-(instance)<-[:MEMBER_OF]-({id: $user_id})
      WHERE $instance_ids IS NULL OR instance.id IN $instance_ids
    })
  // end: visible_conversation
RETURN
  conversation.id AS conversation_id,
  // fragment: conversation_admin
  EXISTS { (conversation)<-[:HOLDS]-()<-[:MEMBER_OF {role: 'admin'}]-({id: $user_id}) } AS is_admin
  // end: conversation_admin
