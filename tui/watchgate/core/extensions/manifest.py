"""An extension's manifest: its command, its hooks and the permissions that it wants.

Wire format: the `extension` object of a SynapsCLI plugin, protocol version 1. A key, hook or
permission that is not known is refused: an extension must not believe that it guards something.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable
from typing import Annotated, Any

import msgspec

from watchgate.core import decoding
from watchgate.core.extensions.errors import ExtensionError
from watchgate.core.extensions.kinds import HOOK_NAMES, HOOKS
from watchgate.core.json_faults import JSON_FAULTS
from watchgate.core.permissions import PERMISSIONS, RESERVED, missing

PROTOCOL_VERSION = 1
_REGISTERS = frozenset({"tools.register", "providers.register"})

Word = Annotated[str, msgspec.Meta(min_length=1, max_length=4_096, pattern=r"^[^\x00]+\Z")]
Argument = Annotated[str, msgspec.Meta(max_length=65_536, pattern=r"^[^\x00]*\Z")]
Key = Annotated[str, msgspec.Meta(pattern=r"^[A-Za-z0-9_-]{1,80}\Z")]
Variable = Annotated[str, msgspec.Meta(pattern=r"^[A-Za-z_][A-Za-z0-9_]{0,127}\Z")]


class Match(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The inputs that a hook wants; both keys must fit where both are given."""

    input_contains: str | msgspec.UnsetType = msgspec.UNSET
    input_equals: Any = msgspec.UNSET


class HookEntry(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One hook that the extension wants: for every tool, or for the one that is named."""

    hook: str
    tool: Word | None = None
    match: Match | None = None


class ConfigEntry(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One value of the extension's configuration; see `resolve`."""

    key: Key
    description: str | None = None
    required: bool = False
    default: Any = None
    secret_env: Variable | None = None


class Manifest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A manifest that has passed `read`."""

    command: Word
    runtime: str = "process"
    protocol_version: int = PROTOCOL_VERSION
    args: tuple[Argument, ...] = ()
    permissions: tuple[str, ...] = ()
    hooks: tuple[HookEntry, ...] = ()
    config: tuple[ConfigEntry, ...] = ()


def read(text: str | bytes, origin: str) -> Manifest:
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


def _check_hook(entry: HookEntry, manifest: Manifest, key: str, origin: str) -> None:
    hook = HOOKS.get(entry.hook)
    if hook is None:
        raise ExtensionError(origin, f"{key}.hook", _unknown("hook", entry.hook, HOOK_NAMES))
    filtered = "tool" if entry.tool is not None else "match"
    if not hook.about_tools and (entry.tool is not None or entry.match not in (None, Match())):
        raise ExtensionError(
            origin, f"{key}.{filtered}", f"{entry.hook} is about no tool; take {filtered} out"
        )
    if lacks := missing(hook.on, manifest.permissions):
        raise ExtensionError(
            origin, key, f"{entry.hook} needs the permission {lacks[1]}; add it to permissions"
        )


_FAULT = re.compile(r"^(?P<what>.*?)(?: - at `(?:key in )?\$\.?(?P<path>[^`]*)`)?$", re.DOTALL)
_UNKNOWN_KEY = re.compile(r"unknown field `(.*)`")
_MISSING = re.compile(r"missing required field `(.*)`")
_ALLOWED: dict[str, type[msgspec.Struct]] = {
    "": Manifest,
    "hooks": HookEntry,
    "match": Match,
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
