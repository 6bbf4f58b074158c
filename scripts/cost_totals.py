"""Prints what `watchgate costs` counts in one agent's folder, as one object: totals and unpriced.

`python scripts/cost_totals.py AGENT HOME`. The command runs as a user has it, in a home of its own
that is empty; HOME is given to it by the agent's variable.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, Final

VARIABLES: Final = {
    "claude": "CLAUDE_CONFIG_DIR",
    "codex": "CODEX_HOME",
    "gemini": "GEMINI_DATA_DIR",
    "opencode": "OPENCODE_DATA_DIR",
    "qwen": "QWEN_DATA_DIR",
    "copilot": "COPILOT_HOME",
}
COUNTS: Final = ("input", "output", "cache_write", "cache_read", "reasoning")


def environment(agent: str, home: Path, empty: str) -> dict[str, str]:
    """The environment of the command: nothing of this user's own but where programs are."""
    return {
        "PATH": os.environ.get("PATH", os.defpath),
        "HOME": empty,
        "WATCHGATE_RUNTIME_DIR": f"{empty}/run",
        VARIABLES[agent]: str(home.resolve()),
    }


def totals(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """The sums over rows; a cost that nobody knows is left out of them."""
    sums: dict[str, Any] = {name: sum(row[name] for row in rows) for name in COUNTS}
    sums["cost_usd"] = sum(row["cost_usd"] or 0 for row in rows)
    unpriced = sorted({model for row in rows for model in row["unpriced"]})
    return {"totals": sums, "unpriced": unpriced}


def counted(agent: str, home: Path, *more: str) -> list[dict[str, Any]]:
    """The rows of the command."""
    with tempfile.TemporaryDirectory() as empty:
        command = [sys.executable, "-m", "watchgate", "costs", "--by", "agent", "--json", *more]
        done = subprocess.run(
            command,
            check=True,
            stdout=subprocess.PIPE,
            env=environment(agent, home, empty),
            timeout=600,
        )
    return [json.loads(line) for line in done.stdout.splitlines()]


def main() -> None:
    """Prints the totals of one agent's folder."""
    agent, home = sys.argv[1:3]
    print(json.dumps(totals(counted(agent, Path(home)))))


if __name__ == "__main__":
    main()
