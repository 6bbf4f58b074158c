"""Turns a configuration's `[[extension]]` and its manifest into what is registered and started."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

import msgspec

from watchgate import __version__
from watchgate.core.config_handlers import ExtensionConfig
from watchgate.core.extensions import config_values, manifest
from watchgate.core.extensions.errors import ExtensionError
from watchgate.core.extensions.kinds import HOOKS
from watchgate.core.extensions.manifest import HookEntry, Manifest, Match
from watchgate.core.handlers import Handler
from watchgate.core.matching import Condition, InputContains, InputEquals, Matcher, Tool
from watchgate.core.permissions import RESERVED, Permission, missing
from watchgate.core.registration import RegistrationError, check


class ExtensionSpec(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that an extension is registered and started with, settled once.

    `initialize` are the parameters of its first call, the same at every start.
    """

    id: str
    handlers: tuple[Handler, ...]
    argv: tuple[str, ...]
    cwd: str
    env: dict[str, str]
    initialize: dict[str, Any]
    permissions: frozenset[Permission]
    enabled: bool = True


def load_extension(
    config: ExtensionConfig,
    manifest_text: str | bytes,
    manifest_path: str,
    environ: Mapping[str, str],
    inherited: Mapping[str, str],
) -> ExtensionSpec:
    """Loads the extension of a configuration.

    Raises `ExtensionError`, fit to be shown.

    Args:
        config: the extension's table of the configuration.
        manifest_text: the manifest, in JSON.
        manifest_path: its absolute path.
        environ: variables, looked up only for the values of the extension's configuration.
        inherited: variables of its process, those that any hook may see; its secrets are added.
    """
    declared = manifest.read(manifest_text, manifest_path)
    granted = _granted(config, declared, manifest_path)
    root = manifest_path.rpartition("/")[0] or "/"
    values = config_values.resolve(
        declared.config, config.id, config.config, environ, manifest_path
    )
    secrets = [entry.secret_env for entry in declared.config if entry.secret_env is not None]
    return ExtensionSpec(
        id=config.id,
        handlers=_handlers(config, declared, granted, manifest_path),
        argv=(declared.command, *declared.args),
        cwd=root,
        env={**inherited, **{name: environ[name] for name in secrets if name in environ}},
        initialize={
            "synaps_version": __version__,
            "extension_protocol_version": manifest.PROTOCOL_VERSION,
            "plugin_id": config.id,
            "plugin_root": root,
            "config": values,
        },
        permissions=granted,
        enabled=config.enabled,
    )


def _granted(config: ExtensionConfig, declared: Manifest, origin: str) -> frozenset[Permission]:
    """Returns the manifest's permissions that the user grants; all of them have to be granted."""
    key = f"extension {config.id}"
    if reserved := sorted(RESERVED.intersection(config.permissions)):
        raise ExtensionError(
            key, "permissions", f"{reserved[0]} is reserved and grants nothing; take it out"
        )
    for wanted in declared.permissions:
        if wanted not in config.permissions:
            raise ExtensionError(
                key,
                "permissions",
                f"{origin} wants {wanted}{_for_hook(declared, wanted)}, which is not granted;"
                f' add "{wanted}" to its permissions, or do without the extension',
            )
    return frozenset(each for each in config.permissions if each in declared.permissions)


def _for_hook(declared: Manifest, permission: str) -> str:
    for entry in declared.hooks:
        lacks = missing(HOOKS[entry.hook].on, ())
        if lacks is not None and lacks[1] == permission:
            return f" for its hook {entry.hook}"
    return ""


def _handlers(
    config: ExtensionConfig, declared: Manifest, granted: frozenset[Permission], origin: str
) -> tuple[Handler, ...]:
    made: list[Handler] = []
    counts: Counter[str] = Counter()
    for at, entry in enumerate(declared.hooks):
        counts[entry.hook] += 1
        hook = HOOKS[entry.hook]
        number = counts[entry.hook]
        parts = (config.id, entry.hook, *([str(number)] if number > 1 else []))
        handler = Handler(
            id=":".join(parts) if len(declared.hooks) > 1 else config.id,
            on=hook.on,
            role=config.role if hook.steers else "observer",
            kind="extension",
            priority=config.priority,
            match=_matcher(entry),
            timeout_s=config.timeout_s,
            on_failure=config.on_failure,
            permissions=granted,
            disabled=not config.enabled,
        )
        try:
            check(handler)
        except RegistrationError as refusal:
            raise ExtensionError(origin, f"hooks[{at}]", str(refusal)) from None
        made.append(handler)
    return tuple(made)


def _matcher(entry: HookEntry) -> Matcher:
    match = entry.match or Match()
    conditions: list[Condition] = []
    if entry.tool is not None:
        conditions.append(Tool((entry.tool,)))
    if isinstance(match.input_contains, str):
        conditions.append(InputContains(match.input_contains))
    if match.input_equals is not msgspec.UNSET:
        conditions.append(InputEquals(match.input_equals))
    return Matcher(tuple(conditions))
