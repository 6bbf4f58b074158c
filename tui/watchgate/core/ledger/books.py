"""The ledger's entries for a file, for a session, and for a call that several records hold."""

from __future__ import annotations

from watchgate.core.ledger.call import UsageCall
from watchgate.core.ledger.figures import CountedCall
from watchgate.core.ledger.rates import QUARTER_US, Tariff
from watchgate.core.ledger.roots import NO_DESCENT
from watchgate.core.ledger.same import Told
from watchgate.core.ledger.sums import Sums

Key = tuple[str, str]
"""An agent and a session of it."""


class Copies:
    """A call that several records hold: these by file, request and side, and the counted calls."""

    __slots__ = ("counted", "records")

    def __init__(self) -> None:
        self.records: dict[tuple[str, str, bool], Told] = {}
        self.counted: list[CountedCall] = []

    def put(self, record: Told) -> None:
        """Takes a record in, in the place of the one with the same names."""
        call = record.call
        self.records[record.file, call.request, call.side] = record

    def drop(self, file: str) -> None:
        """Drops the records of a file."""
        self.records = {key: record for key, record in self.records.items() if key[0] != file}

    def calls_in(self, file: str) -> list[UsageCall]:
        """Returns the records of one file."""
        return [record.call for record in self.records.values() if record.file == file]


Index = dict[str, CountedCall | Copies]
"""What is known of the calls of one agent, or of one family of its threads, by id."""


class File:
    """A file: whose it is, the ids of the calls that it holds, and the sessions they are in."""

    __slots__ = ("agent", "descent", "ids", "index", "name", "parent", "sessions", "thread")

    def __init__(self, name: str, agent: str, index: Index) -> None:
        self.name = name
        self.agent = agent
        self.index = index
        self.thread = self.parent = ""
        self.descent = NO_DESCENT
        self.ids: dict[str, None] = {}
        self.sessions: set[Key] = set()


class Session:
    """The sums of a session by sub-agent, day and model, and the files that hold its calls."""

    __slots__ = ("files", "sums")

    def __init__(self) -> None:
        self.sums: dict[tuple[str, int, str], Sums] = {}
        self.files: set[File] = set()


class Spot:
    """The sums and the tariff that a run of similar calls shares: each is looked up once."""

    __slots__ = (
        "context",
        "day",
        "model",
        "provider",
        "quarter",
        "session",
        "sub",
        "sums",
        "tariff",
    )

    def __init__(self, call: UsageCall, day: int, tariff: Tariff | None, sums: Sums) -> None:
        self.session = call.session
        self.sub = call.sub
        self.model = call.model
        self.provider = call.provider
        self.context = call.context
        self.quarter = call.at_us // QUARTER_US
        self.day = day
        self.tariff = tariff
        self.sums = sums

    def accepts(self, call: UsageCall) -> bool:
        """Returns whether the call is counted and priced here."""
        return (
            call.session == self.session
            and call.model == self.model
            and call.at_us // QUARTER_US == self.quarter
            and call.sub == self.sub
            and call.context == self.context
            and call.provider == self.provider
        )
