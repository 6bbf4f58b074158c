"""The pictures in screenshots/ are what the console draws."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

CHECKOUT = Path(__file__).parent.parent.parent


def test_drawing_the_screenshots_again_gives_the_same_bytes(tmp_path: Path) -> None:
    script = CHECKOUT / "scripts" / "screenshots.py"
    subprocess.run([sys.executable, str(script), str(tmp_path)], check=True, timeout=120)
    drawn = {path.name: path.read_text() for path in tmp_path.glob("*.svg")}
    kept = {path.name: path.read_text() for path in (CHECKOUT / "screenshots").glob("*.svg")}
    assert drawn.keys() == kept.keys()
    changed = [name for name in kept if kept[name] != drawn[name]]
    assert changed == [], "run `make screenshots` and look at the difference"
