"""The time of a persona's night, in its own time zone. Pure functions."""

from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo, available_timezones

from engine.errors import Invalid

TIME_ZONES = available_timezones()


def check_time_zone(name: str) -> str:
    """The name itself, if it is an IANA time zone."""
    if name not in TIME_ZONES:
        raise Invalid(f"{name!r} is not an IANA time zone, such as Europe/Lisbon.")
    return name


def night_of(now: datetime, time_zone: str, consolidate_at: str) -> date:
    """The day of the newest night that is due: today once its hour has come, else yesterday."""
    local = now.astimezone(ZoneInfo(time_zone))
    is_due_today = local.time() >= time.fromisoformat(consolidate_at)
    return local.date() if is_due_today else local.date() - timedelta(days=1)


def same_night(night: datetime, time_zone: str, consolidate_at: str) -> datetime:
    """The time of the night on the same local day at another hour, in UTC."""
    return night_on(night.astimezone(ZoneInfo(time_zone)).date(), time_zone, consolidate_at)


def next_night(now: datetime, time_zone: str, consolidate_at: str) -> datetime:
    """The time of the next night, in UTC."""
    day = night_of(now, time_zone, consolidate_at) + timedelta(days=1)
    return night_on(day, time_zone, consolidate_at)


def night_on(day: date, time_zone: str, consolidate_at: str) -> datetime:
    """The time of the night on a local day, in UTC."""
    local = datetime.combine(day, time.fromisoformat(consolidate_at), ZoneInfo(time_zone))
    return local.astimezone(UTC)
