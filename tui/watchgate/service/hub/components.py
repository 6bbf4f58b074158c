"""The components that a configuration asks for: handlers, extensions and sinks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from watchgate.agents.agent_facts import warn_unsent_kinds
from watchgate.agents.base import Adapter
from watchgate.core.base.config_text import ConfigSource
from watchgate.core.config import config_sections
from watchgate.core.config.config import Config
from watchgate.core.config.configured_handlers import Entry, handler_of, idle, unsupported_kinds
from watchgate.core.dispatch.extensions.extension_spec import (
    ExtensionError,
    ExtensionSpec,
    load_extension,
)
from watchgate.core.dispatch.handler_config import ExtensionConfig
from watchgate.core.dispatch.handlers import Handler
from watchgate.core.dispatch.hooks.hook_protocols import PROTOCOLS
from watchgate.core.dispatch.presets import preset_of
from watchgate.link.paths import Paths
from watchgate.service.runners.child_pool import ChildPool
from watchgate.service.runners.handler_command import CommandRunner
from watchgate.service.runners.handler_runner import Runner
from watchgate.service.runners.spawn import hook_environment
from watchgate.service.sinks.sink import Sink
from watchgate.service.sinks.sink_types import SinkError, build_sink
from watchgate.service.system import safe_files


class ComponentError(ValueError):
    """Something that the configuration asks for cannot be run; the message says how to mend it."""


class Components(msgspec.Struct, frozen=True, kw_only=True):
    """The handlers in the configuration's order, the runners of commands, extensions and sinks."""

    handlers: tuple[Handler, ...]
    runners: dict[str, Runner]
    extensions: tuple[ExtensionSpec, ...]
    sinks: tuple[Sink, ...]


def build_components(
    config: Config,
    paths: Paths,
    environ: Mapping[str, str],
    pool: ChildPool,
    *,
    prints: bool,
    own: Sequence[tuple[Handler, Runner]] = (),
) -> Components:
    """Builds the components of this configuration. Raises `ComponentError`.

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
    return Components(
        handlers=(*handlers, *(handler for spec in extensions for handler in spec.handlers)),
        runners=runners,
        extensions=extensions,
        sinks=_sinks(config, paths, prints=prints),
    )


def config_warnings(config: Config, known: Mapping[str, Adapter]) -> list[str]:
    """Returns warnings about entries that will have no effect; the core serves all the same."""
    preset = preset_of(config.dispatch.preset, config.dispatch.total_timeout_s)
    unsent = [warning for each in config.handler for warning in warn_unsent_kinds(each, known)]
    entries: list[Entry] = [*config.handler, *config.extension]
    return [*unsent, *unsupported_kinds(config.handler, preset), *idle(entries, preset)]


def _extension(
    config: ExtensionConfig, at: int, paths: Paths, environ: Mapping[str, str]
) -> ExtensionSpec:
    path = Path(config.manifest).expanduser()
    if not path.is_absolute():
        path = paths.config.parent / path
    try:
        manifest = safe_files.read_regular_file(path)
        return load_extension(config, manifest, str(path), environ, hook_environment(environ))
    except OSError as fault:
        raise ComponentError(
            f"{_place(paths, 'extension', at, 'manifest')}extension {config.id}:"
            f" its manifest {path} cannot be read ({fault.strerror});"
            " mend the path in config.toml, or take the extension out"
        ) from None
    except ExtensionError as fault:
        raise ComponentError(f"{_place(paths, 'extension', at)}{fault}") from None


def _sinks(config: Config, paths: Paths, *, prints: bool) -> tuple[Sink, ...]:
    sink_fault = config_sections.first_sink_fault(config.sink, stdout_is_free=prints)
    if sink_fault is not None:
        at, message = sink_fault
        raise ComponentError(f"{_place(paths, 'sink', at)}[[sink]] {at + 1}: {message}")
    own = (paths.ingest_socket, paths.control_socket, paths.journal, paths.config, paths.off)
    made = []
    for at, sink in enumerate(config.sink):
        try:
            made.append(build_sink(sink, at, own))
        except SinkError as fault:
            raise ComponentError(f"{_place(paths, 'sink', at, 'path')}{fault}") from None
    return tuple(made)


def _place(paths: Paths, table: str, at: int, *key: str) -> str:
    """Returns the line of an entry, or its key, to stand before a message; empty without a file."""
    try:
        text = safe_files.read_regular_file(paths.config).decode()
    except (OSError, UnicodeDecodeError):
        return ""
    source = ConfigSource(text, str(paths.config))
    return f"{source.entry(table, at).place('.'.join((table, *key)))}: "
