"""Keeps the processes of extensions running, and asks them about events.

A task of its own (`serve`) starts the process, and starts it again when it was lost and
somebody asks; callers only wait for it, so that the short limit of one call never ends a start
that others wait for too. An error in an answer, a lost process and a limit that has passed are
three things, and only the second starts anything again.
"""

from __future__ import annotations

from collections.abc import Iterable

from anyio.abc import TaskGroup

from watchgate.core.extensions.load import ExtensionSpec
from watchgate.core.verdicts import Health
from watchgate.service.runners.extension import Extension, Surroundings


class Extensions:
    """The extension processes of one core."""

    def __init__(self, around: Surroundings) -> None:
        self._around = around
        self._by_handler: dict[str, Extension] = {}
        self._running: dict[str, Extension] = {}

    def start(self, specs: Iterable[ExtensionSpec], tasks: TaskGroup) -> None:
        """Starts the processes of those that are enabled; a call waits until its own is ready."""
        for spec in specs:
            if not spec.enabled:
                continue
            extension = self._running[spec.id] = Extension(spec, self._around)
            for handler in spec.handlers:
                self._by_handler[handler.id] = extension
            tasks.start_soon(extension.serve)

    def runner(self, handler_id: str) -> Extension:
        """Returns the extension of a handler; `KeyError` for one that no enabled extension has."""
        return self._by_handler[handler_id]

    def runners(self) -> dict[str, Extension]:
        """Returns the extension of each handler of the enabled ones, by the handler's id."""
        return dict(self._by_handler)

    def health(self) -> dict[str, Health]:
        """Returns the present health of each extension, by its id."""
        return {id: extension.health for id, extension in self._running.items()}

    async def stop(self) -> None:
        """Ends all of them at the same time."""
        for extension in self._running.values():
            extension.stop_soon()
        for extension in self._running.values():
            await extension.stop()
