"""Calls of a model as files record them, and exact sums over them.

Tokens are in counts that do not overlap, costs in whole pico-dollars.
"""

from __future__ import annotations

import operator

import msgspec
from msgspec.structs import astuple

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
    pico-dollars as the agent told it. `is_lower_bound`: more may have been used than is told.
    `turn` names the turn, `tools` the ids of the tool calls that the model asked for.
    `writes_in_input`: what was written into a cache is within `input`, as nobody counted it.
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
    writes_in_input: bool = False

    @property
    def read(self) -> int:
        """All tokens that the model read."""
        return self.input + self.cache_read + self.cache_5m + self.cache_1h

    @property
    def tokens(self) -> int:
        """All tokens that it read and wrote."""
        return self.read + self.output


class CountedCall(msgspec.Struct, frozen=True, gc=False, array_like=True):
    """One call that is counted, however many records hold it.

    `call` is its fullest record, `owner` the one whose session, sub-agent and turn it
    belongs to (most often the same record), `file` where that lies and `day` its local day (days
    since 1970). `computed` is its cost by the table in pico-dollars, None: no price.
    `is_lower_bound`: it may have used more.
    """

    agent: str
    call: UsageCall
    owner: UsageCall
    file: str
    day: int
    computed: int | None
    is_lower_bound: bool

    @property
    def key(self) -> tuple[str, str]:
        """The agent and the session that it belongs to."""
        return self.agent, self.owner.session

    @property
    def session(self) -> str:
        """The session that it belongs to."""
        return self.owner.session

    @property
    def sub(self) -> str:
        """The sub-agent that made it, empty for the session itself."""
        return self.owner.sub


class Figures(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """The sums over some calls.

    `reported` and `computed` are two costs of the same calls in pico-dollars, by the agent and by
    the table, and are never added: `unreported` of the calls lack the one, `unpriced` the other.
    `lower_bounds` of the calls may have used more than their records show.
    """

    calls: int = 0
    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_5m: int = 0
    cache_1h: int = 0
    reasoning: int = 0
    web_searches: int = 0
    reported: int = 0
    unreported: int = 0
    computed: int = 0
    unpriced: int = 0
    lower_bounds: int = 0

    @property
    def cache_write(self) -> int:
        """Tokens that were written into a cache, for however long."""
        return self.cache_5m + self.cache_1h

    @property
    def tokens(self) -> int:
        """All tokens that were read and written."""
        return self.input + self.output + self.cache_read + self.cache_5m + self.cache_1h

    def plus(self, other: Figures) -> Figures:
        """Returns both together."""
        return Figures(*map(operator.add, astuple(self), astuple(other)))

    def minus(self, other: Figures) -> Figures:
        """Returns these figures less the other's."""
        return Figures(*map(operator.sub, astuple(self), astuple(other)))
