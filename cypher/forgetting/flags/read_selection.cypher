// Read what is needed to flag messages: their conversation, its personas with their policies, and the texts
// that the acknowledgment must not repeat.
//
// $tenant_id     string
// $message_ids   list of strings, of one conversation: those whose content is read
// $user_id       string or null: with a user, only inside an instance they are a member of
// $instance_ids  list of strings or null: with a list, only these of the user's instances
// $by            string, who flags
// $since         zoned datetime: an acknowledgment given to them since then becomes the plural one
//
// Returns conversation_id; is_admin: whether the user is an admin of its instance; persona_id, of the first
// message; contents; personas, maps {id, name, tone, deployment, tenant, persona}, the last three JSON or
// null; given, a map {persona_id, contents: of what it answers} or null. Nothing when there is no such
// message for this caller.
CYPHER 25
MATCH (first:Message {tenant_id: $tenant_id, id: $message_ids[0]})
MATCH (conversation:Conversation {tenant_id: $tenant_id, id: first.conversation_id})
WHERE
  // fragment: visible_conversation
  ($user_id IS NULL OR
    EXISTS {
      MATCH (conversation)<-[:HOLDS]-(instance)<-[:MEMBER_OF]-({id: $user_id})
      WHERE $instance_ids IS NULL OR instance.id IN $instance_ids
    })
  // end: visible_conversation
MATCH (tenant:Tenant {id: $tenant_id})
OPTIONAL MATCH (deployment:Deployment {id: 'engine'})
RETURN
  conversation.id AS conversation_id,
  // fragment: conversation_admin
  EXISTS { (conversation)<-[:HOLDS]-()<-[:MEMBER_OF {role: 'admin'}]-({id: $user_id}) } AS is_admin,
  // end: conversation_admin
  first.persona_id AS persona_id,
  COLLECT {
    UNWIND $message_ids AS id
    MATCH (message:Message {tenant_id: $tenant_id, id: id})
    WHERE message.conversation_id = conversation.id
    RETURN message.content
  } AS contents,
  COLLECT {
    UNWIND conversation.persona_ids AS id
    MATCH (persona:Persona {tenant_id: $tenant_id, id: id})
    RETURN
      persona {
        .id,
        .name,
        .tone,
        deployment: deployment.policy,
        tenant: tenant.policy,
        persona: persona.policy
      }
  } AS personas,
  COLLECT {
    MATCH (conversation)-[:ACKNOWLEDGED {by: $by}]->(given:Acknowledgment)
    WHERE given.withdrawn_at IS NULL AND given.last_at >= $since
    RETURN
      given {
        .persona_id,
        contents:
          COLLECT {
            MATCH (flag:Flag {tenant_id: $tenant_id, acknowledgment_id: given.id})
            WHERE flag.reversed_at IS NULL
            MATCH (flag)-[:FLAGS]->(message:Message)
            RETURN left(message.content, 2000)
            LIMIT 100
          }
      }
  }[0] AS given
