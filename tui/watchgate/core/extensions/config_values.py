"""The values of an extension's configuration keys, from where the operator or the system set them.

In this order: the variable `WATCHGATE_EXTENSION_<ID>_<KEY>`, the user's `[extension.config]`, the
variable that the manifest names as `secret_env`, the manifest's default.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from watchgate.core.extensions.errors import ExtensionError
from watchgate.core.extensions.manifest import ConfigEntry

_PREFIX = "WATCHGATE_EXTENSION"


def override_name(extension_id: str, key: str) -> str:
    """Returns the environment variable that overrides this key."""
    return re.sub(r"[^A-Z0-9]", "_", f"{_PREFIX}_{extension_id}_{key}".upper())


def resolve(
    entries: tuple[ConfigEntry, ...],
    extension_id: str,
    given: Mapping[str, str],
    environ: Mapping[str, str],
    origin: str,
) -> dict[str, Any]:
    """Returns the value of every declared key that has one.

    Raises `ExtensionError` for a required key without a value, and for a given key that the
    manifest does not declare.

    Args:
        entries: the keys that the manifest declares.
        extension_id: the id of the extension.
        given: the values of the user's configuration.
        environ: the environment variables.
        origin: the manifest's file, for errors.
    """
    declared = sorted(entry.key for entry in entries)
    if strange := sorted(given.keys() - set(declared)):
        raise ExtensionError(
            f"extension {extension_id}",
            f"config.{strange[0]}",
            f"{origin} declares no such key; allowed: {', '.join(declared) or 'none'}",
        )
    values: dict[str, Any] = {}
    for entry in entries:
        override = override_name(extension_id, entry.key)
        secret = entry.secret_env
        if override in environ:
            values[entry.key] = environ[override]
        elif entry.key in given:
            values[entry.key] = given[entry.key]
        elif secret is not None and secret in environ:
            values[entry.key] = environ[secret]
        elif entry.default is not None:
            values[entry.key] = entry.default
        elif entry.required:
            also = f" or ${secret}" if secret is not None else ""
            raise ExtensionError(
                f"extension {extension_id}",
                f"config.{entry.key}",
                f"is required by {origin} and has no value; set it in [extension.config], or set"
                f" ${override}{also}",
            )
    return values
