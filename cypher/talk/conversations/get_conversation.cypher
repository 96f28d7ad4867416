// One conversation, if the caller may see it.
//
// $tenant_id        string
// $conversation_id  string
// $user_id          string or null: with a user, only inside an instance they are a member of
// $instance_ids     list of strings or null: with a list, only these of the user's instances
//
// Returns conversation; is_admin: whether the user is an admin of its instance. Nothing when there is
// none for this caller.
CYPHER 25
MATCH (conversation:Conversation {tenant_id: $tenant_id, id: $conversation_id})
WHERE
  // fragment: visible_conversation
  ($user_id IS NULL OR
    EXISTS {
      MATCH (conversation)<-[:HOLDS]-(instance)<-[:MEMBER_OF]-({id: $user_id})
      WHERE $instance_ids IS NULL OR instance.id IN $instance_ids
    })
  // end: visible_conversation
RETURN
  conversation {
    .id,
    .instance_id,
    .persona_ids,
    .title,
    .started_at
  } AS conversation,
  // fragment: conversation_admin
  EXISTS { (conversation)<-[:HOLDS]-()<-[:MEMBER_OF {role: 'admin'}]-({id: $user_id}) } AS is_admin
  // end: conversation_admin
