from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.errors import Invalid
from engine.policy.hours import TIME_ZONES, check_time_zone, next_night, night_of

MOMENTS = st.datetimes(
    min_value=datetime(1990, 1, 1), max_value=datetime(2090, 1, 1), timezones=st.just(UTC)
)
HOURS = st.times().map(lambda time: time.strftime("%H:%M"))
ZONES = st.sampled_from(sorted(TIME_ZONES))


def test_before_the_hour_the_newest_night_is_yesterdays() -> None:
    assert night_of(datetime(2026, 5, 2, 2, 59, tzinfo=UTC), "UTC", "03:00") == date(2026, 5, 1)
    assert night_of(datetime(2026, 5, 2, 3, 0, tzinfo=UTC), "UTC", "03:00") == date(2026, 5, 2)


def test_a_night_comes_at_the_personas_own_hour() -> None:
    noon = datetime(2026, 5, 2, 12, tzinfo=UTC)

    assert next_night(noon, "Asia/Tokyo", "03:00") == datetime(2026, 5, 2, 18, tzinfo=UTC)
    assert next_night(noon, "America/New_York", "03:00") == datetime(2026, 5, 3, 7, tzinfo=UTC)


def test_a_night_in_the_hour_that_summer_time_skips_still_comes() -> None:
    before = datetime(2026, 3, 28, 12, tzinfo=ZoneInfo("Europe/Berlin"))

    assert next_night(before, "Europe/Berlin", "02:30") == datetime(2026, 3, 29, 1, 30, tzinfo=UTC)


@given(MOMENTS, ZONES, HOURS)
def test_the_next_night_lies_ahead_and_within_about_a_day(
    now: datetime, time_zone: str, hour: str
) -> None:
    # A zone can skip or repeat a whole day when it crosses the date line.
    assert timedelta(hours=-3) < next_night(now, time_zone, hour) - now <= timedelta(hours=49)


@given(MOMENTS, ZONES, HOURS)
def test_when_the_next_night_has_come_it_is_the_newest(
    now: datetime, time_zone: str, hour: str
) -> None:
    coming = next_night(now, time_zone, hour)

    assert night_of(coming + timedelta(hours=3), time_zone, hour) > night_of(now, time_zone, hour)


def test_a_time_zone_that_does_not_exist_is_refused() -> None:
    assert check_time_zone("Europe/Lisbon") == "Europe/Lisbon"
    with pytest.raises(Invalid, match="Mars"):
        check_time_zone("Mars/Olympus")
