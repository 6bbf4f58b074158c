"""The one error of loading an extension: the place of the fault, the fault and the mend."""

from __future__ import annotations

from typing import ClassVar

from watchgate.core.verdicts import Health


class ExtensionError(ValueError):
    """Raised for an extension that cannot be used; no process of it was started."""

    health: ClassVar[Health] = "failed_validation"

    def __init__(self, origin: str, key: str, fault: str) -> None:
        super().__init__(": ".join(filter(None, (origin, key, fault))))
