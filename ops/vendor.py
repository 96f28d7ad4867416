"""`make vendor`: fetch the files of the API's page from npm again, as `vendor.json` names them.

Refuses a file whose checksum is another; `--update` writes the new checksums, after a change of
version.
"""

import hashlib
import json
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

FOLDER = Path(__file__).parent.parent / "api" / "page"


def main() -> None:
    manifest = json.loads((FOLDER / "vendor.json").read_text())
    with tempfile.TemporaryDirectory() as folder:
        package = f"{manifest['package']}@{manifest['version']}"
        subprocess.run(["npm", "pack", "--silent", package], cwd=folder, check=True)  # noqa: S603, S607
        (archive,) = Path(folder).glob("*.tgz")
        files = read_files(archive, list(manifest["sha256"]))
    checksums = {name: hashlib.sha256(content).hexdigest() for name, content in files.items()}
    if "--update" in sys.argv:
        manifest["sha256"] = checksums
        (FOLDER / "vendor.json").write_text(json.dumps(manifest, indent=2) + "\n")
    elif checksums != manifest["sha256"]:
        wrong = [
            name for name, checksum in checksums.items() if checksum != manifest["sha256"][name]
        ]
        sys.exit(f"Checksums differ from vendor.json: {', '.join(wrong)}. Nothing was written.")
    for name, content in files.items():
        (FOLDER / "assets" / name).write_bytes(content)


def read_files(archive: Path, names: list[str]) -> dict[str, bytes]:
    """The content of these files of an npm package."""
    with tarfile.open(archive) as package:
        members = {name: package.extractfile(f"package/{name}") for name in names}
        return {name: member.read() for name, member in members.items() if member}


if __name__ == "__main__":
    main()
