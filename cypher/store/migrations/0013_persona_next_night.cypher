// Find the personas whose night is due without looking at the others.
CYPHER 25
CREATE INDEX persona_next_night_at IF NOT EXISTS
FOR (persona:Persona)
ON persona.next_night_at
