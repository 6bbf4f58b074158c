"""The components that a configuration asks for: handlers, extensions and sinks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from watchgate.agents.base import Adapter
from watchgate.agents.kinds import never_sent
from watchgate.core import config_sinks
from watchgate.core.config import Config
from watchgate.core.config_errors import Source
from watchgate.core.config_handlers import ExtensionConfig
from watchgate.core.configured import handler_of, unheard
from watchgate.core.extensions.errors import ExtensionError
from watchgate.core.extensions.load import ExtensionSpec, load_extension
from watchgate.core.handlers import Handler
from watchgate.core.hooks.registry import PROTOCOLS
from watchgate.core.idle_keys import Entry, idle
from watchgate.core.presets import preset_of
from watchgate.link.paths import Paths
from watchgate.service import regular_file
from watchgate.service.runners.command import CommandRunner
from watchgate.service.runners.desk import Runner
from watchgate.service.runners.environment import hook_environment
from watchgate.service.runners.pool import ChildPool
from watchgate.service.sinks.build import SinkError, build
from watchgate.service.sinks.sink import Sink


class EquipmentError(ValueError):
    """Something that the configuration asks for cannot be run; the message says how to mend it."""


class Equipment(msgspec.Struct, frozen=True, kw_only=True):
    """The handlers in the configuration's order, the runners of commands, extensions and sinks."""

    handlers: tuple[Handler, ...]
    runners: dict[str, Runner]
    extensions: tuple[ExtensionSpec, ...]
    sinks: tuple[Sink, ...]


def equip(
    config: Config,
    paths: Paths,
    environ: Mapping[str, str],
    pool: ChildPool,
    *,
    prints: bool,
    own: Sequence[tuple[Handler, Runner]] = (),
) -> Equipment:
    """Builds the components of this configuration. Raises `EquipmentError`.

    Args:
        config: The configuration.
        paths: This core's files and directories.
        environ: The environment that hook commands inherit from.
        pool: Limits the processes of hook commands.
        prints: Standard output is free for a sink.
        own: Handlers of the program that hosts the core, each with its runner.
    """
    preset = preset_of(config.dispatch.preset, config.dispatch.total_timeout_s)
    handlers = [handler for handler, _ in own]
    runners = {handler.id: runner for handler, runner in own}
    for each in config.handler:
        handlers.append(handler_of(each, preset))
        runners[each.id] = CommandRunner(
            each.command,
            PROTOCOLS[each.protocol or preset.protocol],
            handler_id=each.id,
            pool=pool,
            env=hook_environment(environ, each.env),
            cwd=each.cwd,
        )
    extensions = tuple(
        _extension(each, at, paths, environ) for at, each in enumerate(config.extension)
    )
    for spec in extensions:
        handlers += spec.handlers
    return Equipment(
        handlers=tuple(handlers),
        runners=runners,
        extensions=extensions,
        sinks=_sinks(config, paths, prints=prints),
    )


def warnings(config: Config, known: Mapping[str, Adapter]) -> list[str]:
    """Returns warnings about entries that will have no effect; the core serves all the same."""
    preset = preset_of(config.dispatch.preset, config.dispatch.total_timeout_s)
    unsent = [warning for each in config.handler for warning in never_sent(each, known)]
    entries: list[Entry] = [*config.handler, *config.extension]
    return [*unsent, *unheard(config.handler, preset), *idle(entries, preset)]


def _extension(
    config: ExtensionConfig, at: int, paths: Paths, environ: Mapping[str, str]
) -> ExtensionSpec:
    path = Path(config.manifest).expanduser()
    if not path.is_absolute():
        path = paths.config.parent / path
    try:
        return load_extension(
            config, regular_file.read(path), str(path), environ, hook_environment(environ)
        )
    except OSError as fault:
        raise EquipmentError(
            f"{_place(paths, 'extension', at, 'manifest')}extension {config.id}:"
            f" its manifest {path} cannot be read ({fault.strerror});"
            " mend the path in config.toml, or take the extension out"
        ) from None
    except ExtensionError as fault:
        raise EquipmentError(f"{_place(paths, 'extension', at)}{fault}") from None


def _sinks(config: Config, paths: Paths, *, prints: bool) -> tuple[Sink, ...]:
    if (sink_fault := config_sinks.check_all(config.sink, stdout_is_free=prints)) is not None:
        at, message = sink_fault
        raise EquipmentError(f"{_place(paths, 'sink', at)}[[sink]] {at + 1}: {message}")
    own = (paths.ingest_socket, paths.control_socket, paths.journal, paths.config, paths.off)
    made = []
    for at, sink in enumerate(config.sink):
        try:
            made.append(build(sink, at, own))
        except SinkError as fault:
            raise EquipmentError(f"{_place(paths, 'sink', at, 'path')}{fault}") from None
    return tuple(made)


def _place(paths: Paths, table: str, at: int, *key: str) -> str:
    """Returns the line of an entry, or its key, to stand before a message; empty without a file."""
    try:
        source = Source(regular_file.read(paths.config).decode(), str(paths.config))
    except (OSError, UnicodeDecodeError):
        return ""
    return f"{source.entry(table, at).place('.'.join((table, *key)))}: "
