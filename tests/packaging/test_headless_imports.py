"""Everything but the screen can be imported without the libraries that draw it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import watchgate

PACKAGE = Path(watchgate.__file__).parent
SCREEN = ("textual", "rich", "pygments", "markdown_it")

# A fork of an interpreter that has imported nothing is as fresh as a new one, and much cheaper.
IMPORT_EACH = """
import importlib, os, sys
names = sys.argv[1].split()
unwanted = sys.argv[2].split()
for name in names:
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        try:
            importlib.import_module(name)
            found = " ".join(module for module in unwanted if module in sys.modules) or "nothing"
        except BaseException as error:
            found = repr(error)
        os.write(writer, found.encode())
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as answer:
        print(name, answer.read(), sep="\\t")
    os.waitpid(child, 0)
"""


def headless_modules() -> list[str]:
    """Every module of the package but the screen's and the one that runs on import."""
    files = (path.relative_to(PACKAGE) for path in PACKAGE.rglob("*.py"))
    kept = (path for path in files if path.parts[0] not in {"ui", "__main__.py"})
    return sorted(".".join(("watchgate", *name.parts)) for name in map(module_path, kept))


def module_path(file: Path) -> Path:
    return file.parent if file.name == "__init__.py" else file.with_suffix("")


def test_no_headless_module_brings_the_screen() -> None:
    modules = headless_modules()
    run = subprocess.run(
        [sys.executable, "-I", "-c", IMPORT_EACH, " ".join(modules), " ".join(SCREEN)],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    brought = dict(line.split("\t", 1) for line in run.stdout.splitlines())
    assert list(brought) == modules
    assert {name: what for name, what in brought.items() if what != "nothing"} == {}
