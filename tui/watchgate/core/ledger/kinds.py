"""The table's cost of each kind of tokens over some calls."""

from __future__ import annotations

from collections.abc import Iterable

from watchgate.core.ledger.call import in_nano
from watchgate.core.ledger.counted import Kinds
from watchgate.core.ledger.figures import CountedCall
from watchgate.core.ledger.rates import TariffOf


def kinds_of(calls: Iterable[CountedCall], tariff_of: TariffOf) -> Kinds | None:
    """Adds up the cost of each kind of tokens over all priced calls; None: none has a price."""
    priced = False
    read = written = cached = stored = searched = 0
    for each in calls:
        call, tariff = each.call, tariff_of(each.call)
        if tariff is None:
            continue
        priced = True
        rates = tariff.rates(call.read)
        read += call.input * rates.input
        written += call.output * rates.output + rates.per_call
        if rates.reasoning is not None:
            written += call.reasoning * (rates.reasoning - rates.output)
        cached += call.cache_read * rates.cache_read
        stored += call.cache_5m * rates.cache_5m + call.cache_1h * rates.cache_1h
        searched += call.web_searches * (rates.web_search or 0)
    if not priced:
        return None
    return Kinds(
        input=in_nano(read),
        output=in_nano(written),
        cache_read=in_nano(cached),
        cache_write=in_nano(stored),
        web_search=in_nano(searched),
    )
