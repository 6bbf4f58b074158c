"""Settings of Claude Code that silence hooks."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from watchgate.service.setup.doctor.check import Check
from watchgate.service.setup.targets import home

MANAGED = (
    Path("/etc/claude-code/managed-settings.json"),
    Path("/Library/Application Support/ClaudeCode/managed-settings.json"),
)
_SILENCERS = {
    "disableAllHooks": "switches all hooks off",
    "allowManagedHooksOnly": "runs no hooks but managed ones",
}


def check_settings(
    env: Mapping[str, str], cwd: Path, managed: tuple[Path, ...] = MANAGED
) -> list[Check]:
    """One finding per settings file that silences us, or that all is well."""
    user = home("claude", env) / "settings.json"
    project = [cwd / ".claude" / name for name in ("settings.json", "settings.local.json")]
    found = [check for path in (user, *project, *managed) for check in _silenced(path)]
    return found or [Check("claude: settings", "ok", "no settings file silences hooks")]


def _silenced(path: Path) -> list[Check]:
    try:
        settings = json.loads(path.read_text(encoding="utf-8-sig") or "{}")
    except (FileNotFoundError, NotADirectoryError):
        return []
    except (OSError, ValueError) as error:
        return [Check("claude: settings", "warn", f"{path} cannot be read: {error}", "mend it")]
    if not isinstance(settings, dict):
        return []
    return [
        Check("claude: settings", "fail", f'"{key}" in {path} {what}', f'take "{key}" out of it')
        for key, what in _SILENCERS.items()
        if settings.get(key) is True
    ]
