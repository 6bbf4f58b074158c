"""Variables that can keep a hook from running, or hide what its agent does.

A hook is `/bin/sh`, then an interpreter: the loader reads `LD_*` before either says a word, bash in
the place of sh reads the next ones. The last ones move an agent's own files to where nobody looks.
Sources: ld.so(8), dyld(1), bash(1), python3(1), and where agents document that they keep files.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

PREFIXES: Final = ("LD_", "DYLD_", "BASH_FUNC_", "PYTHON")
NAMES: Final = frozenset(
    {
        *("BASH_ENV", "ENV", "SHELLOPTS", "BASHOPTS", "GLIBC_TUNABLES"),
        *("CLAUDE_CONFIG_DIR", "CODEX_HOME", "COPILOT_HOME", "GEMINI_DATA_DIR", "QWEN_DATA_DIR"),
    }
)
_USUAL_IN_DOTENV: Final = "PYTHON"
"""Projects put `PYTHONPATH` there for themselves; hooks run `python3 -I`, which reads none."""

_KEY: Final = re.compile(r'"([A-Za-z_][\w%()]{0,100})"\s*:')
_LINE: Final = re.compile(r"(?:export[ \t]+)?([A-Za-z_][\w.%()-]*)[ \t]*[=:](.*)")


def reaching(variables: Mapping[str, Any]) -> list[str]:
    """The names of those that can reach hooks, in their order.

    `ENV` names a file for shells; a word like `production` in it is none.
    """
    return [name for name, value in variables.items() if _reaches(name, value)]


def of_settings(settings: Any) -> list[str]:
    """The names that an agent's settings set under `env` and that can reach hooks."""
    variables = settings.get("env") if isinstance(settings, dict) else None
    return reaching(variables) if isinstance(variables, dict) else []


def of_unreadable(text: str) -> list[str]:
    """The same for settings that are no JSON to us, and may be for a more lenient agent."""
    return reaching(dict.fromkeys(_KEY.findall(text), ""))


def of_dotenv(text: str) -> list[str]:
    """The names that a `.env` file sets and that can reach hooks."""
    lines = (_LINE.match(line.strip()) for line in text.splitlines())
    variables = reaching({each[1]: each[2] for each in lines if each is not None})
    return [name for name in variables if not name.startswith(_USUAL_IN_DOTENV)]


def _reaches(name: str, value: Any) -> bool:
    if name == "ENV":
        return any(mark in str(value) for mark in "/$`~")
    return name in NAMES or name.startswith(PREFIXES)
