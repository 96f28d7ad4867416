// Change the policy under all personas of a tenant. Their next runs reschedule every memory.
//
// $tenant_id  string
// $policy     string, JSON
// $event      map {id, action, by, at}
CYPHER 25
MATCH (tenant:Tenant {id: $tenant_id})
// Lock before reading what it was.
SET tenant.lock = true
REMOVE tenant.lock
CREATE
  (event:Event {
    tenant_id: $tenant_id,
    written_at: datetime.realtime(),
    before: tenant.policy,
    after: $policy
  })
    -[:ABOUT]->(tenant)
SET event += $event
SET tenant.policy = $policy
WITH tenant
MATCH (persona:Persona)
WHERE
  persona.tenant_id = tenant.id AND
  persona.id IS NOT NULL // an index is used only if the condition names all its properties
SET persona.policy_version = coalesce(persona.policy_version, 0) + 1
