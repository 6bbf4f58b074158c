"""Everything but the screen can be imported without the libraries that draw it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import watchgate

PACKAGE = Path(watchgate.__file__).parent
SCREEN = ("textual", "rich", "pygments", "markdown_it")

# One after the other in one interpreter: what a module brings stays, so nothing is overlooked.
IMPORT_ALL = """
import importlib, sys
unwanted = sys.argv[2].split()
for name in sys.argv[1].split():
    importlib.import_module(name)
    for module in unwanted:
        if module in sys.modules:
            sys.exit(f"{name} brings {module}")
"""


def headless_modules() -> list[str]:
    """Every module of the package but the screen's and the one that runs on import."""
    files = (path.relative_to(PACKAGE) for path in PACKAGE.rglob("*.py"))
    kept = (path for path in files if path.parts[0] not in {"ui", "__main__.py"})
    return sorted(".".join(("watchgate", *name.parts)) for name in map(module_path, kept))


def module_path(file: Path) -> Path:
    return file.parent if file.name == "__init__.py" else file.with_suffix("")


def test_no_headless_module_brings_the_screen() -> None:
    run = subprocess.run(
        [sys.executable, "-I", "-c", IMPORT_ALL, " ".join(headless_modules()), " ".join(SCREEN)],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert (run.returncode, run.stderr) == (0, "")
