"""When a persona's night comes, in its own time zone. Values in, values out."""

from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo, available_timezones

from engine.errors import Invalid

TIME_ZONES = available_timezones()


def check_time_zone(name: str) -> str:
    """The name itself, when it is one of the IANA time zones."""
    if name not in TIME_ZONES:
        raise Invalid(f"{name!r} is not an IANA time zone, such as Europe/Lisbon.")
    return name


def night_of(now: datetime, time_zone: str, consolidate_at: str) -> date:
    """The day whose night is the newest that has come."""
    local = now.astimezone(ZoneInfo(time_zone))
    came_today = local.time() >= time.fromisoformat(consolidate_at)
    return local.date() if came_today else local.date() - timedelta(days=1)


def same_night(night: datetime, time_zone: str, consolidate_at: str) -> datetime:
    """The night of the same day, in UTC, when it comes at another hour."""
    day = night.astimezone(ZoneInfo(time_zone)).date()
    local = datetime.combine(day, time.fromisoformat(consolidate_at), ZoneInfo(time_zone))
    return local.astimezone(UTC)


def next_night(now: datetime, time_zone: str, consolidate_at: str) -> datetime:
    """When the next night comes, in UTC."""
    day = night_of(now, time_zone, consolidate_at) + timedelta(days=1)
    local = datetime.combine(day, time.fromisoformat(consolidate_at), ZoneInfo(time_zone))
    return local.astimezone(UTC)
