"""Turns a configuration's `[[extension]]` and its manifest into what is registered and started.

- The one error of loading an extension: the place of the fault, the fault and the mend. An
  extension's manifest: its command, its hooks and the permissions that it wants. Wire format: the
  `extension` object of a SynapsCLI plugin, protocol version 1. A key, hook or permission that is
  not known is refused: an extension must not believe that it guards something.
- The values of an extension's configuration keys, from where the operator or the system set them.
  In this order: the variable `WATCHGATE_EXTENSION_<ID>_<KEY>`, the user's `[extension.config]`, the
  variable that the manifest names as `secret_env`, the manifest's default.
"""

from __future__ import annotations

import difflib
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Annotated, Any, ClassVar

import msgspec

from watchgate import __version__
from watchgate.core.base import decoding
from watchgate.core.base.decoding import JSON_FAULTS
from watchgate.core.dispatch.extensions.extension_hooks import HOOK_NAMES, HOOKS
from watchgate.core.dispatch.handler_config import ExtensionConfig
from watchgate.core.dispatch.handler_matchers import (
    Condition,
    InputContains,
    InputEquals,
    Matcher,
    ToolCondition,
)
from watchgate.core.dispatch.handlers import (
    PERMISSIONS,
    RESERVED,
    Handler,
    Permission,
    RegistrationError,
    check_handler,
    missing_permission,
)
from watchgate.core.model.verdicts import Health


class ExtensionError(ValueError):
    """Raised for an extension that cannot be used; no process of it was started."""

    health: ClassVar[Health] = "failed_validation"

    def __init__(self, origin: str, key: str, fault: str) -> None:
        super().__init__(": ".join(filter(None, (origin, key, fault))))


PROTOCOL_VERSION = 1
_REGISTERS = frozenset({"tools.register", "providers.register"})

Word = Annotated[str, msgspec.Meta(min_length=1, max_length=4_096, pattern=r"^[^\x00]+\Z")]
Argument = Annotated[str, msgspec.Meta(max_length=65_536, pattern=r"^[^\x00]*\Z")]
Key = Annotated[str, msgspec.Meta(pattern=r"^[A-Za-z0-9_-]{1,80}\Z")]
Variable = Annotated[str, msgspec.Meta(pattern=r"^[A-Za-z_][A-Za-z0-9_]{0,127}\Z")]


class ManifestMatch(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The inputs that a hook wants; both keys must fit where both are given."""

    input_contains: str | msgspec.UnsetType = msgspec.UNSET
    input_equals: Any = msgspec.UNSET


class ManifestHook(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One hook that the extension wants: for every tool, or for the one that is named."""

    hook: str
    tool: Word | None = None
    match: ManifestMatch | None = None


class ConfigEntry(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One value of the extension's configuration; see `resolve`."""

    key: Key
    description: str | None = None
    required: bool = False
    default: Any = None
    secret_env: Variable | None = None


class Manifest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A manifest that has passed `read_manifest`."""

    command: Word
    runtime: str = "process"
    protocol_version: int = PROTOCOL_VERSION
    args: tuple[Argument, ...] = ()
    permissions: tuple[str, ...] = ()
    hooks: tuple[ManifestHook, ...] = ()
    config: tuple[ConfigEntry, ...] = ()


def read_manifest(text: str | bytes, origin: str) -> Manifest:
    """Reads the manifest in a JSON text; `origin` names the file in errors.

    Raises `ExtensionError`.
    """
    try:
        manifest = decoding.decode(text, Manifest)
    except msgspec.ValidationError as fault:
        raise _explain(str(fault), origin) from None
    except JSON_FAULTS as fault:
        raise ExtensionError(origin, "", f"not a JSON manifest: {fault}; mend that place") from None
    _check_start(manifest, origin)
    _check_permissions(manifest, origin)
    for at, entry in enumerate(manifest.hooks):
        _check_hook(entry, manifest, f"hooks[{at}]", origin)
    keys = [entry.key for entry in manifest.config]
    if twice := [key for key in keys if keys.count(key) > 1]:
        raise ExtensionError(origin, "config", f"the key {twice[0]} is there twice; keep one")
    return manifest


def _check_start(manifest: Manifest, origin: str) -> None:
    if manifest.protocol_version != PROTOCOL_VERSION:
        raise ExtensionError(
            origin,
            "protocol_version",
            f"{manifest.protocol_version} is not spoken here; use an extension for version"
            f" {PROTOCOL_VERSION}",
        )
    if manifest.runtime != "process":
        raise ExtensionError(origin, "runtime", f"{manifest.runtime!r} cannot be run; use process")
    if not manifest.command.strip():
        raise ExtensionError(origin, "command", "is empty; name the program to start")
    if not manifest.hooks:
        also = (
            "; there are no tools or providers to register in a monitor"
            if _REGISTERS.intersection(manifest.permissions)
            else ""
        )
        raise ExtensionError(origin, "hooks", f"names no hook{also}; add one of {_list(HOOKS)}")


def _check_permissions(manifest: Manifest, origin: str) -> None:
    for at, name in enumerate(manifest.permissions):
        if name in RESERVED:
            raise ExtensionError(
                origin, f"permissions[{at}]", f"{name} is reserved and never granted; take it out"
            )
        if name not in PERMISSIONS:
            raise ExtensionError(
                origin, f"permissions[{at}]", _unknown("permission", name, PERMISSIONS)
            )


def _check_hook(entry: ManifestHook, manifest: Manifest, key: str, origin: str) -> None:
    hook = HOOKS.get(entry.hook)
    if hook is None:
        raise ExtensionError(origin, f"{key}.hook", _unknown("hook", entry.hook, HOOK_NAMES))
    filtered = "tool" if entry.tool is not None else "match"
    if not hook.about_tools and (
        entry.tool is not None or entry.match not in (None, ManifestMatch())
    ):
        raise ExtensionError(
            origin, f"{key}.{filtered}", f"{entry.hook} is about no tool; take {filtered} out"
        )
    if lacks := missing_permission(hook.on, manifest.permissions):
        raise ExtensionError(
            origin, key, f"{entry.hook} needs the permission {lacks[1]}; add it to permissions"
        )


_FAULT = re.compile(r"^(?P<what>.*?)(?: - at `(?:key in )?\$\.?(?P<path>[^`]*)`)?$", re.DOTALL)
_UNKNOWN_KEY = re.compile(r"unknown field `(.*)`")
_MISSING = re.compile(r"missing required field `(.*)`")
_ALLOWED: dict[str, type[msgspec.Struct]] = {
    "": Manifest,
    "hooks": ManifestHook,
    "match": ManifestMatch,
    "config": ConfigEntry,
}


def _explain(fault: str, origin: str) -> ExtensionError:
    parts = _FAULT.match(fault)
    what, path = (parts["what"], parts["path"] or "") if parts else (fault, "")
    if unknown := _UNKNOWN_KEY.search(what):
        holder = _ALLOWED[re.sub(r"\[\d+\]$", "", path).rpartition(".")[2]]
        allowed = [field.name for field in msgspec.structs.fields(holder)]
        return ExtensionError(
            origin, ".".join(filter(None, (path, unknown[1]))), _unknown("key", "", allowed)
        )
    if lacking := _MISSING.search(what):
        return ExtensionError(origin, path, f"the key {lacking[1]} is missing; add it")
    return ExtensionError(origin, path, f"{what[:1].lower()}{what[1:]}; mend that value")


def _unknown(what: str, name: str, allowed: Iterable[str]) -> str:
    close = difflib.get_close_matches(name, allowed, n=1)
    hint = f" did you mean {close[0]}?" if close else ""
    return f"there is no {' '.join(filter(None, (what, name and repr(name))))};{hint} allowed: " + (
        _list(allowed)
    )


def _list(names: Iterable[str]) -> str:
    return ", ".join(sorted(names))


_PREFIX = "WATCHGATE_EXTENSION"


def override_name(extension_id: str, key: str) -> str:
    """Returns the environment variable that overrides this key."""
    return re.sub(r"[^A-Z0-9]", "_", f"{_PREFIX}_{extension_id}_{key}".upper())


def resolve_config(
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
    declared = read_manifest(manifest_text, manifest_path)
    granted = _granted(config, declared, manifest_path)
    root = manifest_path.rpartition("/")[0] or "/"
    values = resolve_config(declared.config, config.id, config.config, environ, manifest_path)
    secrets = [entry.secret_env for entry in declared.config if entry.secret_env is not None]
    return ExtensionSpec(
        id=config.id,
        handlers=_handlers(config, declared, granted, manifest_path),
        argv=(declared.command, *declared.args),
        cwd=root,
        env={**inherited, **{name: environ[name] for name in secrets if name in environ}},
        initialize={
            "synaps_version": __version__,
            "extension_protocol_version": PROTOCOL_VERSION,
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
        lacks = missing_permission(HOOKS[entry.hook].on, ())
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
            check_handler(handler)
        except RegistrationError as refusal:
            raise ExtensionError(origin, f"hooks[{at}]", str(refusal)) from None
        made.append(handler)
    return tuple(made)


def _matcher(entry: ManifestHook) -> Matcher:
    match = entry.match or ManifestMatch()
    conditions: list[Condition] = []
    if entry.tool is not None:
        conditions.append(ToolCondition((entry.tool,)))
    if isinstance(match.input_contains, str):
        conditions.append(InputContains(match.input_contains))
    if match.input_equals is not msgspec.UNSET:
        conditions.append(InputEquals(match.input_equals))
    return Matcher(tuple(conditions))
