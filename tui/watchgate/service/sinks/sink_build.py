"""Builds the `Sink` of each `[[sink]]` of the configuration."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from watchgate.core.config import config_sections
from watchgate.core.dispatch.handler_config import SinkConfig
from watchgate.link.paths import SOCKET_PATH_MAX_BYTES
from watchgate.service.sinks.delivery import Delivery
from watchgate.service.sinks.file_sinks import Jsonl, Stdout
from watchgate.service.sinks.record_lines import Wrap, as_bare_codewhale, as_codewhale, as_record
from watchgate.service.sinks.sink import Sink
from watchgate.service.sinks.unix_socket import UnixSocket
from watchgate.service.sinks.webhook import Webhook


class SinkError(ValueError):
    """A sink cannot be made; the message says which and how to mend it."""


def build_sink(config: SinkConfig, index: int, own: Sequence[Path] = ()) -> Sink:
    """Builds the sink that is described at `index`; raises `SinkError`.

    `own` are this core's files and sockets: a sink that led back into the core would feed itself.
    """
    place = config.path or _host(config.url) or ""
    name = f"[[sink]] {index + 1} ({' '.join(filter(None, (config.type, place)))})"
    fault = config_sections.sink_fault(config) or _path_fault(config, own)
    if fault:
        raise SinkError(f"{name}: {fault}")
    return Sink(
        name, config.kinds, _wrap(config), _DELIVERIES[config.type](config), queue=config.queue
    )


def _wrap(config: SinkConfig) -> Wrap:
    if config.envelope == "record":
        return as_record
    return as_bare_codewhale if config.type == "stdout" else as_codewhale


def _path(config: SinkConfig) -> Path:
    return Path(config.path or "").expanduser()


def _path_fault(config: SinkConfig, own: Sequence[Path]) -> str | None:
    if config.path is None:
        return None
    path = _path(config)
    if path.resolve() in {one.resolve() for one in own}:
        return f"{path} is this core's own, which would be fed with what it records for ever"
    size_bytes = len(bytes(path))
    if config.type == "unix-socket" and size_bytes > SOCKET_PATH_MAX_BYTES:
        return (
            f"the socket path {path} has {size_bytes} bytes, the platform takes "
            f"{SOCKET_PATH_MAX_BYTES}: use a shorter one"
        )
    return None


def _host(url: str | None) -> str | None:
    # The rest of a URL often holds a token.
    return url and "/".join(url.split("/", 3)[:3]).rpartition("@")[2]


_DELIVERIES: dict[str, Callable[[SinkConfig], Delivery]] = {
    "stdout": lambda _: Stdout(),
    "jsonl": lambda config: Jsonl(_path(config)),
    "webhook": lambda config: Webhook(config.url or ""),
    "unix-socket": lambda config: UnixSocket(_path(config)),
}
