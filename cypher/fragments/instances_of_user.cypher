// The instances that a user is a member of and their token is not kept out of.

MATCH (:User {tenant_id: $tenant_id, id: $user_id})-[:MEMBER_OF]->(instance:Instance)
WHERE ($instance_ids IS NULL OR instance.id IN $instance_ids)
