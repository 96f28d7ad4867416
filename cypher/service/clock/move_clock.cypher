// Set how far the engine's time stands from the real one.
//
// $ahead_seconds  float, negative for the past
CYPHER 25
MERGE (clock:Clock {id: 'engine'})
SET clock.ahead_seconds = $ahead_seconds
