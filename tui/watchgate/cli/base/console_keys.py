"""Keys of the configuration that only a console can judge: actions, and keys taken twice."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from watchgate.cli.base.printing import Stop

if TYPE_CHECKING:
    from watchgate.core.config.config import Config
    from watchgate.link.paths import Paths

# As the configuration calls an action, and as the console does.
_NAMES = {"allow_once": "allow"}
_TABLE = "ui.keys."

Row = tuple[str, Any, str]
"""A key of the configuration, its value, and where that is from."""


def by_action(keys: Mapping[str, str]) -> dict[str, str]:
    """The configured keys by the console's own names of their actions."""
    return {_NAMES.get(action, action): key for action, key in keys.items()}


def check_keys(paths: Paths, config: Config) -> None:
    """Ends the command when a console would refuse these keys; names the line."""
    keys = config.ui.keys
    if not keys:
        return
    from watchgate.ui.commands.key_registry import KEYS
    from watchgate.ui.keys.keymap import Keymap

    for name, action in _NAMES.items():
        if name in keys and action in keys:
            raise Stop(f"{_place(paths, config, name)}: ui.keys: {name} is {action}: keep one")
    try:
        Keymap(KEYS, by_action(keys))
    except ValueError as fault:
        named = [
            action
            for action, key in keys.items()
            if any(f"{word!r}" in str(fault) for word in (action, key, *key.split()))
        ]
        raise Stop(f"{_place(paths, config, next(iter(named), ''))}: {fault}") from None


def _place(paths: Paths, config: Config, action: str) -> str:
    from watchgate.service.system.config_file import values_with_origin

    places = {key: origin for key, _, origin in values_with_origin(paths, config)}
    place = places.get(f"{_TABLE}{action}", "default")
    # A key that is about to be set has no line yet.
    return str(paths.config) if place == "default" else place


def with_default_keys(rows: Sequence[Row]) -> list[Row]:
    """The rows, and those of actions whose keys nobody moved; one with two names has two."""
    from watchgate.ui.commands.key_registry import KEYS

    moved = {key.removeprefix(_TABLE): row for key, *row in rows if key.startswith(_TABLE)}
    by_action = {key.id: [" ".join(key.keys), "default"] for key in KEYS}
    by_action |= {_NAMES.get(action, action): row for action, row in moved.items()}
    by_action |= {name: by_action[action] for name, action in _NAMES.items()}
    others = [row for row in rows if not row[0].startswith(_TABLE)]
    return [
        *others,
        *((f"{_TABLE}{action}", key, origin) for action, (key, origin) in by_action.items()),
    ]
