"""The environment of a command: this user's files and configuration, or a clear end.

- The characters that the terminal shows, as far as the environment says.
"""

from __future__ import annotations

import locale
import os
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING

from watchgate.cli.base.printing import Exit, Stop

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from watchgate.agents.base import Adapter
    from watchgate.core.config.config import Config
    from watchgate.link.paths import Paths
    from watchgate.service.bridges.core_client import IngestClient


_NAMES = ("LC_ALL", "LC_CTYPE", "LANG")
"""The variables that name a locale's character set; the first that is set counts (POSIX)."""

_PLAIN = ("C", "POSIX")
_COERCED = "C.UTF-8"
"""The value that Python itself gives LC_CTYPE in a plain locale (PEP 538): it says nothing."""


def ascii_terminal(environ: Mapping[str, str]) -> bool:
    """Returns whether the terminal is known to show no UTF-8; without any word about it, it does.

    The words count, not what Python made of them: a locale that this machine does not have is
    still what the terminal at the other end of an ssh connection has.
    """
    values = [value for name in _NAMES if (value := environ.get(name))]
    coerced = not environ.get("LC_ALL") and values[:1] == [_COERCED]
    if coerced and environ.get("LANG") in _PLAIN:
        return True
    if not values:
        return not _utf8(getattr(sys.stdout, "encoding", None) or "utf-8")
    named, _, charset = values[0].partition(".")
    if charset or named in _PLAIN:
        return not _utf8(charset.partition("@")[0])
    return not (_utf8(named) or _utf8(locale.getencoding()))


def _utf8(charset: str) -> bool:
    return charset.lower().replace("-", "").replace("_", "") == "utf8"


def here(*, sockets: bool = True) -> Paths:
    """The paths that the environment names; one that needs no core wants no `sockets`."""
    from watchgate.link.paths import SocketPathTooLongError, paths

    try:
        return paths(os.environ, sockets=sockets)
    except SocketPathTooLongError as fault:
        raise Stop(str(fault), Exit.USAGE) from None


PROFILES = ("watch", "guard", "strict")
UNATTENDED = ("hold", "deny")


def configured(
    paths: Paths, *, profile: str | None = None, unattended: str | None = None
) -> Config:
    """The configuration in force, with what stands for it here; a bad one ends the command."""
    from watchgate.core.config.config import ConfigError
    from watchgate.service.system.config_file import read_config
    from watchgate.service.system.runtime_dir import RuntimeDirError

    try:
        config = read_config(paths)
    except (ConfigError, RuntimeDirError) as fault:
        raise Stop(str(fault)) from None
    return overridden(config, profile, unattended)


def overridden(config: Config, profile: str | None, unattended: str | None) -> Config:
    """The configuration with what the command line says instead."""
    import msgspec

    if profile is not None:
        config = msgspec.structs.replace(config, profile=profile)
    if unattended is not None:
        approval = msgspec.structs.replace(config.approval, unattended=unattended)
        config = msgspec.structs.replace(config, approval=approval)
    return config


def core_at(paths: Paths, agent: str, *, proxy: bool) -> IngestClient:
    """The way to the core for a proxy or tool of ours that speaks for an agent."""
    from watchgate.service.bridges.core_client import IngestClient
    from watchgate.service.system.system_clock import SystemClock

    return IngestClient(
        ingest=paths.ingest_socket, off=paths.off, clock=SystemClock(), agent=agent, proxy=proxy
    )


def agents_named(names: Sequence[str], known: Mapping[str, Adapter]) -> list[Adapter]:
    """The adapters of these names; an unknown one ends the command."""
    from watchgate.agents.registry import UnknownAgentError, adapter

    try:
        return [adapter(name, known) for name in names]
    except UnknownAgentError as fault:
        raise Stop(str(fault), Exit.USAGE) from None


def agents_known(paths: Paths, config: Config) -> Mapping[str, Adapter]:
    """Every agent's adapter, with the user's own; one that cannot be taken in ends the command."""
    from watchgate.service.wire.agent_adapters import AgentsError, adapters

    try:
        return adapters(paths, config)
    except AgentsError as fault:
        raise Stop(str(fault)) from None
