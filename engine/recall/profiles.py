"""Ranking profiles: how much each signal counts for the score of a hit."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class RankingProfile:
    """The weights of the signals. Signals are 0 to 1; cosines can be negative."""

    weights: Mapping[str, float]
    # By link type: the share of a hit's lead that spreads along a link of strength 1.
    spread: Mapping[str, float] = field(default_factory=dict)
    # Share of its similarity that a standing item adds when the question looks forward.
    standing: float = 0.0
    embeds_names: bool = False  # whether people's names are part of the embedded question


PROFILES = {
    # The profile that measures best. Its weights are round numbers; none was fitted.
    "woven": RankingProfile(
        weights={
            "near": 0.6,
            "meaning": 0.4,
            "in_context": 0.3,
            "full_text": 0.5,
            "words": 0.2,
            "answered_question": 0.3,
            "who": 0.5,
            "asked_fact": 0.3,
            "when": 0.3,
            "newest": 0.2,
            "persona_said": -0.3,
            "length": 0.15,
            "importance": 0.05,
            "recency": 0.01,
            "pinned": 0.05,
            "access": 0.02,
        },
        standing=1.0,
        spread={"PRECEDES": 1.6, "RELATED": 0.6, "others": 0.6},
    ),
    # The blend of the published specification: 0.2 full text, 0.8 similarity, and boosts.
    "published": RankingProfile(
        weights={
            "vector": 0.8,
            "full_text": 0.2,
            "importance": 0.05,
            "recency": 0.05,
            "pinned": 0.1,
            "access": 0.05,
        },
        embeds_names=True,
    ),
}
