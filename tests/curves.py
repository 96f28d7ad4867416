"""What the curves of the policy give, written down a second time for the tests.

The engine computes importance, salience and strength in Cypher, over whole batches. Tests hold what
the graph says against these.
"""

import math

from engine.policy.policy import Figures


def importance_after(importance: int, periods: int, figures: Figures) -> int:
    """What is left of an importance after so many periods without an access."""
    left: dict[str, float] = {
        "linear": importance - figures.decay_step * periods,
        "exponential": math.floor(importance * (1 - figures.decay_rate) ** periods + 0.5),
        "power": math.floor(importance * (1 + periods) ** -figures.decay_exponent + 0.5),
        "none": importance,
    }
    return min(importance, max(1, int(left[figures.decay_curve])))


def salience_used(salience: float, earlier_today: int, figures: Figures) -> float:
    """A salience after one more use on a day that has seen some."""
    gain = figures.salience_gain * figures.salience_repeat**earlier_today
    return salience + (1 - salience) * gain


def strengthened(strength: float, rate: float) -> float:
    """A strength moved towards 1, by a share of what is missing."""
    return strength + (1 - strength) * rate
