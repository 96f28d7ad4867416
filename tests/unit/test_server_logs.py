import os
from pathlib import Path

from tests.server_logs import LINES, ends_of_logs


def test_the_ends_of_logs_that_have_grown_are_told_by_their_path(tmp_path: Path) -> None:
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "api.log").write_text("\n".join(map(str, range(100))))
    (tmp_path / "redis.log").write_text("of an earlier test")
    os.utime(tmp_path / "redis.log", (1000, 1000))
    (tmp_path / "worker.log").touch()
    (tmp_path / "debug.log").write_text("a hundred settings")

    told = ends_of_logs(tmp_path, since=2000)

    assert told == {"home/api.log": "\n".join(map(str, range(100 - LINES, 100)))}
