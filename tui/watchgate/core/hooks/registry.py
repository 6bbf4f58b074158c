"""All hook protocols, by the name that `protocol` of a handler gives."""

from __future__ import annotations

from typing import Final

from watchgate.core.hooks.codewhale import CODEWHALE
from watchgate.core.hooks.codex import CODEX
from watchgate.core.hooks.codex_fork_v1 import CODEX_FORK_V1
from watchgate.core.hooks.codex_fork_v2 import CODEX_FORK_V2
from watchgate.core.hooks.codex_notify import CODEX_NOTIFY
from watchgate.core.hooks.console import CONSOLE
from watchgate.core.hooks.exchange import Protocol
from watchgate.core.hooks.sandbox_env import SANDBOX_ENV
from watchgate.core.presets import ProtocolName

PROTOCOLS: Final[dict[ProtocolName, Protocol]] = {
    protocol.name: protocol
    for protocol in (
        CONSOLE,
        CODEX_FORK_V1,
        CODEX_FORK_V2,
        CODEX,
        CODEX_NOTIFY,
        SANDBOX_ENV,
        CODEWHALE,
    )
}
