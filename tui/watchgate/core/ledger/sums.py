"""Running sums of one model on one day, changed by a call at a time."""

from __future__ import annotations

from watchgate.core.ledger.figures import CountedCall, Figures


class Sums:
    """The running sums of one row of the ledger."""

    __slots__ = (
        "cache_1h",
        "cache_5m",
        "cache_read",
        "calls",
        "computed",
        "input",
        "lower_bounds",
        "output",
        "reasoning",
        "reported",
        "unpriced",
        "unreported",
        "web_searches",
    )

    def __init__(self) -> None:
        self.calls = self.input = self.output = 0
        self.cache_read = self.cache_5m = self.cache_1h = 0
        self.reasoning = self.web_searches = 0
        self.reported = self.unreported = self.computed = self.unpriced = self.lower_bounds = 0

    def add(self, counted: CountedCall) -> None:
        """Counts a call."""
        # The hottest lines of the ledger: what most calls lack is not added as 0.
        call = counted.call
        self.calls += 1
        self.input += call.input
        self.output += call.output
        self.cache_read += call.cache_read
        if call.cache_5m:
            self.cache_5m += call.cache_5m
        if call.cache_1h:
            self.cache_1h += call.cache_1h
        if call.reasoning:
            self.reasoning += call.reasoning
        if call.web_searches:
            self.web_searches += call.web_searches
        if call.reported is None:
            self.unreported += 1
        else:
            self.reported += call.reported
        if counted.computed is None:
            self.unpriced += 1
        else:
            self.computed += counted.computed
        if counted.is_lower_bound:
            self.lower_bounds += 1

    def take_back(self, counted: CountedCall) -> None:
        """Takes a call out of the sums."""
        call = counted.call
        self.calls -= 1
        self.input -= call.input
        self.output -= call.output
        self.cache_read -= call.cache_read
        self.cache_5m -= call.cache_5m
        self.cache_1h -= call.cache_1h
        self.reasoning -= call.reasoning
        self.web_searches -= call.web_searches
        self.reported -= call.reported or 0
        self.unreported -= call.reported is None
        self.computed -= counted.computed or 0
        self.unpriced -= counted.computed is None
        self.lower_bounds -= counted.is_lower_bound

    def figures(self) -> Figures:
        """Returns the sums as they are now."""
        return Figures(**{name: getattr(self, name) for name in self.__slots__})
