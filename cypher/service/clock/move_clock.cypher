// Set how many seconds the engine's time is ahead of the real time.
//
// $ahead_seconds  float, negative for the past
CYPHER 25
MERGE (clock:Clock {id: 'engine'})
SET clock.ahead_seconds = $ahead_seconds
