"""Manifests and configurations, each with only what a test says about it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest

from watchgate.core.dispatch.extensions.extension_spec import (
    ExtensionError,
    ExtensionSpec,
    load_extension,
)
from watchgate.core.dispatch.handler_config import ExtensionConfig
from watchgate.core.dispatch.handlers import PERMISSIONS

PATH = "/srv/guard/manifest.json"
GRANTS = tuple(name for name in PERMISSIONS if name != "tools.override")
GUARD: dict[str, Any] = {
    "command": "python3",
    "args": ["main.py"],
    "permissions": ["tools.intercept"],
    "hooks": [{"hook": "before_tool_call"}],
}


def load(
    manifest: Mapping[str, Any] | None = None,
    environ: Mapping[str, str] | None = None,
    inherited: Mapping[str, str] | None = None,
    **config: Any,
) -> ExtensionSpec:
    """The guard with changes; a key that is None is left out of its manifest."""
    both = {**GUARD, **(manifest or {})}
    text = json.dumps({key: value for key, value in both.items() if value is not None})
    asked = ExtensionConfig(**{"id": "guard", "manifest": PATH, "permissions": GRANTS, **config})
    return load_extension(asked, text, PATH, environ or {}, inherited or {})


def refusal(manifest: Mapping[str, Any] | None = None, **fields: Any) -> str:
    """Why the guard is refused with these changes."""
    with pytest.raises(ExtensionError) as caught:
        load(manifest, **fields)
    return str(caught.value)
