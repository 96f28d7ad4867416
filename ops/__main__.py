"""Entry point of the `pentimento` command, also as `python -m ops`."""

import sys

from pydantic import ValidationError


def main() -> None:
    """Run the command. A missing extra or a wrong setting ends it with one line."""
    try:
        from ops.cli import app
    except ModuleNotFoundError as error:
        if error.name not in ("psutil", "rich", "typer"):
            raise
        sys.exit("The pentimento command is an extra: pip install 'pentimento[cli]'.")
    try:
        app()
    except ValidationError as error:
        if error.title != "Settings":
            raise
        sys.exit(
            " ".join(f"{setting_name(wrong['loc'])}: {wrong['msg']}." for wrong in error.errors())
        )


def setting_name(path: tuple[int | str, ...]) -> str:
    return f"PENTIMENTO_{'_'.join(map(str, path)).upper()}"


if __name__ == "__main__":
    main()
