"""The environment of a command: this user's files and configuration, or a clear end."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from watchgate.cli.exits import Exit, Stop

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from watchgate.agents.base import Adapter
    from watchgate.core.config import Config
    from watchgate.link.paths import Paths
    from watchgate.service.ingest_client import IngestClient


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
    from watchgate.core.config import ConfigError
    from watchgate.service.runtime_dir import RuntimeDirError
    from watchgate.service.settings import read_config

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
    from watchgate.service.clock import SystemClock
    from watchgate.service.ingest_client import IngestClient

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
    from watchgate.service.agents import AgentsError, adapters

    try:
        return adapters(paths, config)
    except AgentsError as fault:
        raise Stop(str(fault)) from None
