// The salience of a memory now (faded), by its figures: from above the mean it is pulled down to it, then
// it fades along the decay curve. Also days, since salience_at, and uses: how often it was used today.

WITH
  *,
  CASE WHEN memory.salience_at < $now
    THEN ($now.epochMillis - memory.salience_at.epochMillis) / 86400000.0
    ELSE 0.0
  END AS days,
  CASE WHEN memory.uses_on = date($now) THEN memory.uses_today ELSE 0 END AS uses
WITH
  *,
  CASE WHEN memory.salience > figures.salience_mean
    THEN figures.salience_mean +
      (memory.salience - figures.salience_mean) * exp(-figures.salience_pull * days)
    ELSE memory.salience
  END AS pulled
WITH
  *,
  CASE figures.decay_curve
    WHEN 'linear' THEN pulled - figures.salience_fade * days
    WHEN 'exponential' THEN pulled * exp(-2 * figures.salience_fade * days)
    WHEN 'power' THEN pulled / (1 + 2 * figures.salience_fade * days)
    ELSE pulled
  END AS unbounded
WITH *, CASE WHEN unbounded < 0 THEN 0.0 ELSE unbounded END AS faded
