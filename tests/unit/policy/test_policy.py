import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.errors import Invalid
from engine.models import MemoryType
from engine.policy.policy import (
    PERSONA_FIGURES,
    Figures,
    Layer,
    check_layer,
    deployment_layer,
    merge_layers,
    salience_after,
)
from engine.settings import Settings

CURVES = ("linear", "exponential", "power", "none")


def figures(**changes: object) -> Figures:
    return msgspec.convert(changes, Figures)


@pytest.mark.spec("CONS-11")
def test_what_is_nearer_to_the_memory_wins() -> None:
    tenant = Layer(
        figures={"decay_days": 60, "archive_days": 200},
        types={MemoryType.SOMATIC: {"decay_days": 50}},
        categories={"plan": {"decay_days": 40}},
    )
    persona = Layer(figures={"decay_days": 30}, types={MemoryType.SEMANTIC: {"decay_days": 20}})

    policy = merge_layers(tenant, persona)

    assert policy.of("episodic").decay_days == 30
    assert policy.of("semantic").decay_days == 20
    assert policy.of("episodic").archive_days == 200
    assert policy.of("somatic", "unheard of").decay_days == 30
    assert merge_layers(tenant).of("somatic").decay_days == 50
    assert merge_layers(tenant).of("somatic", "plan").decay_days == 40
    assert policy.as_parameter()["semantic/plan"]["decay_days"] == 20


def test_the_defaults_are_the_published_numbers() -> None:
    default = merge_layers().figures

    assert (default.merge_threshold, default.link_strength) == (0.92, 0.5)
    assert (default.strengthen_rate, default.strengthen_below) == (0.05, 0.95)
    assert (default.coactivate_rate, default.prune_below, default.prune_days) == (0.1, 0.1, 60)
    assert (default.decay_days, default.decay_step, default.decay_curve) == (30, 1, "linear")
    assert (default.archive_importance, default.archive_days) == (1, 90)


@pytest.mark.parametrize("wrong", [{"decay_days": -1}, {"merge_threshold": 2}, {"unknown": 1}])
def test_a_figure_out_of_its_range_is_refused(wrong: dict[str, object]) -> None:
    for layer in (
        Layer(figures=wrong),
        Layer(types={MemoryType.EPISODIC: wrong}),
        Layer(categories={"plan": wrong}),
    ):
        with pytest.raises(Invalid):
            check_layer(layer)


@given(st.floats(0, 1), st.floats(0, 3650), st.floats(0, 365), st.sampled_from(CURVES))
def test_salience_only_falls_with_time_and_stays_on_its_scale(
    salience: float, days: float, more: float, curve: str
) -> None:
    chosen = figures(decay_curve=curve)

    now, later = (salience_after(salience, it, chosen) for it in (days, days + more))
    assert 0 <= later <= now + 1e-9 <= salience + 2e-9


def test_what_stands_above_the_mean_is_pulled_back_to_it_and_no_further() -> None:
    steady = figures(decay_curve="none")

    assert salience_after(0.9, 7, steady) == pytest.approx(0.5 + 0.4 * 0.4966, abs=1e-3)
    assert salience_after(0.9, 3650, steady) == pytest.approx(0.5)
    assert salience_after(0.4, 3650, steady) == 0.4


@pytest.mark.spec("CONS-11")
def test_an_operator_sets_figures_for_everybody_and_a_tenant_or_persona_for_itself() -> None:
    settings = Settings(_env_file=None, minimize_factor=0.5, forget_fallback_threshold=0.7)
    tenant, persona = Layer({"minimize_factor": 0.3}), Layer({"consolidate_at": "04:30"})

    chosen = merge_layers(deployment_layer(settings), tenant, persona).figures

    assert chosen.forget_fallback_threshold == 0.7
    assert chosen.minimize_factor == 0.3
    assert chosen.consolidate_at == "04:30"
    assert deployment_layer(Settings(_env_file=None)) == Layer()


@pytest.mark.parametrize("name", sorted(PERSONA_FIGURES))
def test_what_holds_for_a_whole_persona_is_not_set_for_a_type(name: str) -> None:
    value = getattr(Figures(), name)

    with pytest.raises(Invalid, match="whole persona"):
        check_layer(Layer(types={MemoryType.EPISODIC: {name: value}}))


@pytest.mark.parametrize("time", ["3:00", "24:00", "03:00\n", "night"])
def test_the_hour_of_the_night_is_a_time_of_day(time: str) -> None:
    with pytest.raises(Invalid):
        check_layer(Layer({"consolidate_at": time}))
