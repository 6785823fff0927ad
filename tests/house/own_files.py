"""The project's own files, for the tests of the house."""

import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BUILT = {"build", "report", "exports"}


def own_files(root: Path = ROOT) -> list[Path]:
    """All that are the project's; without Git, all that do not look built."""
    listed = subprocess.run(["git", "-C", root, "ls-files", "-z", "-co", "--exclude-standard"], capture_output=True, text=True)
    if listed.returncode == 0:
        return [root / name for name in sorted(listed.stdout.split("\0")) if name and (root / name).is_file()]
    return [path for path in sorted(root.rglob("*")) if path.is_file() and not BUILT & set(path.parts) and
            not any(part.startswith(".") for part in path.relative_to(root).parts)]
