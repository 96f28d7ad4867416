// Forgotten shapes: the records of what it is like that something is missing.
//
// Each statement may run twice (IF NOT EXISTS). Neo4j Browser takes the file as it is.

// The experience of a shape is known by tenant and the id of the shape.
CREATE CONSTRAINT shape_experience_id IF NOT EXISTS
FOR (experience:ShapeExperience)
REQUIRE (experience.tenant_id, experience.id) IS UNIQUE;

// List a persona's shapes, the newest first.
CREATE INDEX shape_order IF NOT EXISTS
FOR (shape:ForgottenShape)
ON (shape.tenant_id, shape.persona_id, shape.formed_at, shape.id);
