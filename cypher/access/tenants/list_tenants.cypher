// Every tenant, for the operator's command line.
//
// Returns id, name, created_at.
CYPHER 25
MATCH (tenant:Tenant)
RETURN tenant.id AS id, tenant.name AS name, tenant.created_at AS created_at
ORDER BY id
