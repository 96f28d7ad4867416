// Make a tenant. Doing it twice keeps the first.
//
// $tenant  map {id, name, created_at}
//
// Returns id, name, created_at.
CYPHER 25
MERGE (tenant:Tenant {id: $tenant.id})
  ON CREATE SET tenant += $tenant
RETURN tenant.id AS id, tenant.name AS name, tenant.created_at AS created_at
