// How far the engine's time stands from the real one.
//
// Returns ahead_seconds; nothing when the clock was never moved.
CYPHER 25
MATCH (clock:Clock {id: 'engine'})
RETURN clock.ahead_seconds AS ahead_seconds
