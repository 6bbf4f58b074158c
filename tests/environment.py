"""The same surroundings for every run, set before any plugin imports textual.

Loaded by `-p tests.environment`: the snapshot plugin imports textual, which reads its variables
once, before the first conftest. Processes that tests start inherit all of it.
"""

from __future__ import annotations

import os
import sys
import time

FIXED = {
    "COLORTERM": "truecolor",
    "LANG": "C.UTF-8",
    "TERM": "xterm-256color",
    "TEXTUAL_ANIMATIONS": "none",
    "TZ": "UTC",
}
FOREIGN = (
    "TEXTUAL_",
    "WATCHGATE_",
    "LC_",
    "CLAUDE",
    "CODEX_",
    "COPILOT_",
    "GEMINI_",
    "OPENCODE_",
    "QWEN_",
    "TMUX",
    "ZELLIJ",
    "KITTY_",
    "WEZTERM_",
)
FOREIGN_NAMES = (
    "NO_COLOR",
    "FORCE_COLOR",
    "COLUMNS",
    "LINES",
    "SSH_TTY",
    "TERM_PROGRAM",
    "PYTHONDONTWRITEBYTECODE",  # every process that a test starts would compile us anew
    "PYTHONUNBUFFERED",  # it hides a line that was never flushed
)
OURS = (
    "TEXTUAL_SNAPSHOT_TEMPDIR",  # how the snapshot plugin's workers find their reports
    "WATCHGATE_AGENTS_DIR",  # where the real agents are installed once and for all
    "WATCHGATE_CRASHES",  # how many cores are killed
    "WATCHGATE_DAMAGED",  # how many damaged hook clients are tried
    "WATCHGATE_MODEL",  # whether the large worlds of the engine are walked through as well
    "WATCHGATE_RANDOM_SEEDS",  # how many runs of random keys, and how long each is
    "WATCHGATE_RANDOM_STEPS",
)

for name in [name for name in os.environ if name.startswith(FOREIGN) or name in FOREIGN_NAMES]:
    if name not in OURS:
        del os.environ[name]
os.environ.update(FIXED)
sys.dont_write_bytecode = False
time.tzset()
