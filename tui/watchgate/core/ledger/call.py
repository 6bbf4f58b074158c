"""One call of a model, as one file records it: tokens in counts that do not overlap."""

from __future__ import annotations

import msgspec

PICO = 1_000_000_000_000
"""Pico-dollars in a dollar; a price of one dollar per million tokens is PICO / 10**6 a token."""
PICO_PER_NANO = 1_000


def in_nano(pico: int) -> int:
    """Converts pico-dollars to nano-dollars, half a one upwards."""
    return (pico + PICO_PER_NANO // 2) // PICO_PER_NANO


class UsageCall(msgspec.Struct, frozen=True, gc=False, omit_defaults=True, array_like=True):
    """One call of a model.

    `input` is what no cache held, `cache_5m` and `cache_1h` what was written into one for so long,
    `reasoning` a part of `output`. `id` names the call and `request` the attempt (see
    `same_calls`); `side` says that a sub-agent's record holds it. `sub` is the sub-agent,
    `at_us` UTC. `context` are the words that choose another price (`fast`, `priority`, `us`), by
    spaces; `provider` whose price it is, where the agent tells. `reported` is its cost in
    pico-dollars as the agent told it. `least`: more may have been used than is told. `turn` names
    the turn, `tools` the ids of the tool calls that the model asked for. `writes_untold`: what was
    written into a cache is within `input`, as nobody counted it.
    """

    id: str
    at_us: int
    session: str
    model: str = ""
    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_5m: int = 0
    cache_1h: int = 0
    reasoning: int = 0
    web_searches: int = 0
    request: str = ""
    side: bool = False
    sub: str = ""
    context: str = ""
    provider: str = ""
    reported: int | None = None
    is_lower_bound: bool = False
    turn: str = ""
    tools: tuple[str, ...] = ()
    writes_untold: bool = False

    @property
    def read(self) -> int:
        """All tokens that the model read."""
        return self.input + self.cache_read + self.cache_5m + self.cache_1h

    @property
    def tokens(self) -> int:
        """All tokens that it read and wrote."""
        return self.read + self.output
