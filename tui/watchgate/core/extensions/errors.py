"""The one error of loading an extension: where the fault is, what it is and how to mend it."""

from __future__ import annotations

from typing import ClassVar

from watchgate.core.verdicts import Health


class ExtensionError(ValueError):
    """An extension that cannot be used; no process of it was started."""

    health: ClassVar[Health] = "failed_validation"

    def __init__(self, origin: str, key: str, fault: str) -> None:
        super().__init__(": ".join(filter(None, (origin, key, fault))))
