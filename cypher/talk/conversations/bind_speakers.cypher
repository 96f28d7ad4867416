// Bind the names that users speak under in an instance to these users: one name for a user, one user for a
// name. A trusted caller may give a user another name.
//
// $tenant_id        string
// $conversation_id  string
// $names            list of maps {user_id, name, key, trusted}: key is the name without case and marks
//
// Returns name; held: the other name that the user had before, or null; taken: whether it is the name or
// the id of another member. No row for users who are no members, and for names that are theirs already.
CYPHER 25
MATCH (instance:Instance)-[:HOLDS]->
  (conversation:Conversation {tenant_id: $tenant_id, id: $conversation_id})
UNWIND $names AS given
MATCH (user:User {tenant_id: $tenant_id, id: given.user_id})-[member:MEMBER_OF]->(instance)
WHERE coalesce(member.speaker_key <> given.key, true)
// Lock before reading: somebody else may just be taking the same name.
SET instance.lock = true
REMOVE instance.lock
WITH
  given,
  member,
  member.speaker AS held,
  EXISTS {
    MATCH (other:User)-[theirs:MEMBER_OF]->(instance)
    WHERE
      other <> user AND
      (theirs.speaker_key = given.key OR toLower(other.id) = toLower(trim(given.name)))
  } AS taken
FOREACH (bound IN
  CASE
    WHEN NOT taken AND (held IS NULL OR given.trusted) THEN [member]
    ELSE []
  END |
  SET
    bound.speaker = given.name,
    bound.speaker_key = given.key
)
RETURN given.name AS name, held, taken
