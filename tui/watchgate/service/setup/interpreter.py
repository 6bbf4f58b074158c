"""Finds the interpreter that installed hooks run: one that outlives any tool environment."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

OLDEST = (3, 8)
_PROBE_TIMEOUT_S = 10
_PROBE = (
    "import sys, json; print(json.dumps("
    "[sys.executable, sys.version_info[:2], sys.prefix == sys.base_prefix]))"
)


class NoInterpreterError(RuntimeError):
    """No base interpreter was found; the message says what was tried."""


def base_interpreter(candidates: Iterable[str | Path] | None = None) -> Path:
    """Returns the system's own Python from 3.8 on, else the base of the one running this.

    Never one of a virtual environment and never a version manager's shim: an upgrade of either
    would break every hook. Raises `NoInterpreterError`.
    """
    tried = []
    for candidate in candidates or _candidates():
        interpreter = probe(Path(candidate))
        if interpreter is not None:
            return interpreter
        tried.append(str(candidate))
    raise NoInterpreterError(
        f"no Python {OLDEST[0]}.{OLDEST[1]} or newer outside a virtual environment "
        f"(tried {', '.join(tried)}): install python3 of your system"
    )


def probe(python: Path) -> Path | None:
    """Returns the interpreter itself when it is fit, a shim's target for the shim, else None."""
    try:
        # Without -S, which would hide that the interpreter is a virtual environment's.
        answer = subprocess.run(
            [python, "-I", "-c", _PROBE],
            capture_output=True,
            check=True,
            timeout=_PROBE_TIMEOUT_S,
        )
        executable, version, base = json.loads(answer.stdout)
    except (OSError, subprocess.SubprocessError, ValueError):
        return None
    if not base or tuple(version) < OLDEST or not executable:
        return None
    real = Path(executable)
    return python if python.resolve() == real.resolve() else real


def _candidates() -> tuple[str, ...]:
    return "/usr/bin/python3", str(getattr(sys, "_base_executable", sys.executable))
