"""Entry point of the `pentimento` command, also as `python -m ops`."""

import sys


def main() -> None:
    """Run the command, or say which extra it needs where only the server is installed."""
    try:
        from ops.cli import app
    except ModuleNotFoundError as error:
        if error.name not in ("psutil", "rich", "typer"):
            raise
        sys.exit("The pentimento command is an extra: pip install 'pentimento[cli]'.")
    app()


if __name__ == "__main__":
    main()
