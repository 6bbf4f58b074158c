"""The pictures in screenshots/ are what the console draws, and the README shows no others."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

CHECKOUT = Path(__file__).parent.parent.parent


def test_drawing_the_screenshots_again_gives_the_same_bytes(tmp_path: Path) -> None:
    drawing = [sys.executable, "-m", "scripts.screenshots", str(tmp_path)]
    subprocess.run(drawing, check=True, timeout=300, cwd=CHECKOUT)
    drawn = {path.name: path.read_text() for path in tmp_path.glob("*.svg")}
    kept = {path.name: path.read_text() for path in (CHECKOUT / "screenshots").glob("*.svg")}
    assert drawn.keys() == kept.keys()
    changed = [name for name in kept if kept[name] != drawn[name]]
    assert changed == [], "run `make screenshots` and look at the difference"


def test_every_picture_of_the_readme_is_there_and_loads_nothing_from_elsewhere() -> None:
    shown = re.findall(r"\((screenshots/[^)]*)\)", (CHECKOUT / "README.md").read_text())
    assert len(shown) == len(set(shown)) >= 5
    for name in shown:
        assert "url(http" not in (CHECKOUT / name).read_text(), name
