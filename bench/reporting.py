"""What `--report` leaves behind: the figures, and of which machine and day they are."""

from __future__ import annotations

import importlib.metadata
import json
import os
import platform
import re
import shutil
import sqlite3
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from bench.plan import PARTS
from bench.running import LeftOut, Told

REPORT: Final = Path(__file__).parent / "report.json"
ROOT: Final = REPORT.parent.parent
PACKAGES: Final = ("anyio", "msgspec", "pluggy", "textual", "tree-sitter")


def keep(figures: Sequence[Told], missing: Sequence[LeftOut]) -> None:
    """Writes the report and the documents made of it.

    The figures of files that were not measured now stay as they were, and the day is that of the
    last ones.
    """
    before = json.loads(REPORT.read_text()) if REPORT.exists() else {}
    left_out = [{"part": each.part, "name": each.name, "why": each.why} for each in missing]
    renewed = {each["part"] for each in (*figures, *left_out)}

    def merged(what: str, now: Sequence[Told]) -> list[Told]:
        every = [*(each for each in before.get(what, ()) if each["part"] not in renewed), *now]
        return sorted(every, key=lambda each: list(PARTS).index(each["part"]))

    report = {
        "taken": _taken(),
        "figures": merged("figures", figures),
        "left_out": merged("left_out", left_out),
    }
    REPORT.write_text(json.dumps(report, indent=1, ensure_ascii=False) + "\n")
    subprocess.run([sys.executable, "-m", "scripts.performance_table"], check=True, cwd=ROOT)


def _taken() -> dict[str, Any]:
    return {
        "date": time.strftime("%Y-%m-%d"),
        "machine": f"{_processor()}, {os.cpu_count()} processors, {platform.system()}",
        "load": round(os.getloadavg()[0], 1),
        "versions": {
            "watchgate": importlib.metadata.version("watchgate"),
            "Python": platform.python_version(),
            "SQLite": sqlite3.sqlite_version,
            **{name: importlib.metadata.version(name) for name in PACKAGES},
            **({"node": node} if (node := _node()) else {}),
        },
    }


def _processor() -> str:
    told = Path("/proc/cpuinfo")
    found = re.search(r"model name\s*: (.+)", told.read_text()) if told.exists() else None
    return found[1] if found else platform.machine()


def _node() -> str:
    if shutil.which("node") is None:
        return ""
    return subprocess.check_output(["node", "--version"], text=True).strip(" v\n")
