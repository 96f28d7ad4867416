// Ids are unique inside a tenant: another tenant's ids must not even collide.
CYPHER 25
CREATE CONSTRAINT persona_id IF NOT EXISTS
FOR (persona:Persona)
REQUIRE (persona.tenant_id, persona.id) IS UNIQUE
