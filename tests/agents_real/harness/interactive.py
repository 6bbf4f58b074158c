"""How each agent is started on a terminal, in the mode that asks for permission."""

from __future__ import annotations

from typing import Final

from watchgate.service.crashtest.agent_driver import MODEL
from watchgate.service.crashtest.agent_drivers import PROVIDER
from watchgate.service.crashtest.model.conversation import PROMPT

_CODEX_SCREEN: Final = ("--no-alt-screen", "--no-daemon", "-s", "read-only", "-a", "on-request")

INTERACTIVE: Final[dict[str, tuple[str, ...]]] = {
    # Claude's own default mode asks nobody.
    "claude": ("--permission-mode", "default", PROMPT),
    # A slug outside the catalogue: the others open with an advertisement for a newer model.
    "codex": (*_CODEX_SCREEN, "-m", MODEL, PROMPT),
    "copilot": ("--no-color", "--no-auto-update", "-i", PROMPT),
    "gemini": ("--skip-trust", "--approval-mode", "default", "-i", PROMPT),
    "opencode": ("--prompt", PROMPT),
    "qwen": (*PROVIDER, "--approval-mode", "default", "-i", PROMPT),
}
