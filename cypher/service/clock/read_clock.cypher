// How many seconds the engine's time is ahead of the real time.
//
// Returns ahead_seconds; nothing when the clock was never moved.
CYPHER 25
MATCH (clock:Clock {id: 'engine'})
RETURN clock.ahead_seconds AS ahead_seconds
