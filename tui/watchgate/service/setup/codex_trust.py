"""Reads whether Codex has been told to trust our hooks, as far as its files say.

Wire format: `[hooks.state."<hooks.json>:<event>:<group>:<index>"]` in `config.toml` beside it, with
`trusted_hash` once somebody has looked, and `enabled`; Codex CLI 0.169. The hash is Codex's own, so
a `hooks.json` that was changed after `config.toml` counts as not looked at.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import msgspec

from watchgate.service.setup.forms.guarded_command import is_our_command
from watchgate.service.system import safe_files

LIMIT_BYTES = 1_048_576
_WORDS = re.compile(r"(?<=[a-z])(?=[A-Z])")


def codex_trusts(hooks: Path) -> bool:
    """Returns whether every hook of ours in this file was trusted since it was written."""
    config = hooks.with_name("config.toml")
    try:
        if max(hooks.stat().st_size, config.stat().st_size) > LIMIT_BYTES:
            return False
        if hooks.stat().st_mtime > config.stat().st_mtime:
            return False
        state = tomllib.loads(safe_files.read_regular_file(config).decode())["hooks"]["state"]
        places = list(
            _own_places(msgspec.json.decode(safe_files.read_regular_file(hooks))["hooks"])
        )
        names = {str(hooks), str(hooks.resolve())}
        return bool(places) and all(
            any(_trusted(state.get(f"{name}:{place}")) for name in names) for place in places
        )
    except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return False


def _own_places(events: dict[str, Any]) -> Iterator[str]:
    """Yields the place of each entry of ours: `pre_tool_use:0:1`."""
    for event, groups in events.items():
        for group, each in enumerate(groups):
            for index, hook in enumerate(each["hooks"]):
                if is_our_command(hook.get("command")):
                    yield f"{_WORDS.sub('_', event).lower()}:{group}:{index}"


def _trusted(state: Any) -> bool:
    return bool(state) and bool(state.get("trusted_hash")) and state.get("enabled", True) is True


READS: Final[Mapping[str, Callable[[Path], bool]]] = {"codex": codex_trusts}
"""The function that reads whether an agent trusts our hooks, where it says so in a file."""
