"""Our arithmetic against that of genai-prices, over its whole table."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from decimal import Decimal

from genai_prices import calc_price
from genai_prices.data import providers
from genai_prices.types import ModelInfo, ModelPrice, TieredPrices, Usage
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from watchgate.core.usage.pricing import cost
from watchgate.core.usage.usage_calls import PICO, UsageCall
from watchgate.service.prices.price_table import context
from watchgate.service.prices.prices import Prices

PRICES = Prices()
WORDS = ("", "fast", "priority", "flex", "batch", "default", "fast batch", "something else")
COUNTS = st.one_of(
    st.integers(0, 5),
    st.integers(0, 400_000),
    st.sampled_from((100_000, 128_000, 199_999, 200_000, 272_000, 272_001, 3_000_000)),
)
# From 2024 to the middle of 2027, and more often about the dates at which prices changed last.
TIMES = st.one_of(
    st.integers(1_704_067_200_000_000, 1_811_808_000_000_000),
    st.integers(1_788_220_800_000_000, 1_798_675_200_000_000),
)


def charged(model: ModelInfo) -> list[ModelPrice]:
    """All that a model charges at one time or another."""
    if isinstance(model.prices, ModelPrice):
        return [model.prices]
    return [each.prices for each in model.prices]


# What agents call by tokens; where reading or writing has no price there is nothing to compare.
MODELS = [
    (provider, model)
    for provider in providers
    for model in provider.models
    if all({"input_mtok", "output_mtok"} <= each.__dict__.keys() for each in charged(model))
]


def usage(call: UsageCall) -> Usage:
    return Usage(
        input_tokens=call.read,
        cache_read_tokens=call.cache_read,
        cache_write_tokens=call.cache_5m + call.cache_1h,
        cache_write_1h_tokens=call.cache_1h,
        output_tokens=call.output,
        output_reasoning_tokens=call.reasoning,
        web_searches=call.web_searches,
    )


@st.composite
def calls(draw: st.DrawFn) -> UsageCall:
    output = draw(COUNTS)
    return UsageCall(
        id="c",
        at_us=draw(TIMES),
        session="s",
        input=draw(COUNTS),
        output=output,
        cache_read=draw(COUNTS),
        cache_5m=draw(COUNTS),
        cache_1h=draw(COUNTS),
        reasoning=draw(st.integers(0, output)),
        web_searches=draw(st.integers(0, 20)),
        context=draw(st.sampled_from(WORDS)),
    )


def at(call: UsageCall) -> datetime:
    return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=call.at_us)


def rounding(call: UsageCall, prices: ModelPrice) -> int:
    """By how much our sum may differ: half a pico-dollar for each token of a rate with more places.

    Only what binary floats cut short in the table has more than six.
    """
    return call.tokens // 2 + 1 if _uneven(prices) else 0


def _uneven(prices: ModelPrice) -> bool:
    values = [value for value in prices.__dict__.values() if value is not None]
    return any(rate * 1_000_000 % 1 for value in values for rate in _rates(value))


def _rates(value: object) -> list[Decimal]:
    if isinstance(value, TieredPrices):
        return [value.base, *(tier.price for tier in value.tiers)]
    assert isinstance(value, Decimal)
    return [value]


def compared(call: UsageCall, provider: str | None) -> bool:
    """Whether the call has a price; it must be the same one, or on both sides none."""
    try:
        theirs = calc_price(
            usage(call),
            call.model,
            provider_id=provider,
            genai_request_timestamp=at(call),
            price_context=context(call.context),
        )
    except LookupError:
        theirs = None
    tariff = PRICES.tariff_of(call)
    if theirs is None or not {"input_mtok", "output_mtok"} <= theirs.model_price.__dict__.keys():
        assert tariff is None, call
        return False
    assert tariff is not None, call
    off = abs(cost(call, tariff) - theirs.total_price * PICO)
    assert off <= rounding(call, theirs.model_price), call
    return True


@settings(max_examples=20, deadline=None)
@given(call=calls(), start=st.integers(0, 9))
def test_every_model_of_the_table_costs_what_genai_prices_computes(
    call: UsageCall, start: int
) -> None:
    found = [
        compared(replace(call, provider=provider.id, model=model.id), provider.id)
        for provider, model in MODELS[start::10]
    ]
    # A model may be matched by an earlier one that has no price for tokens.
    assert sum(found) > len(found) * 0.9


@settings(max_examples=10, deadline=None)
@given(call=calls(), start=st.integers(0, 9))
def test_a_name_alone_is_matched_as_genai_prices_matches_it(call: UsageCall, start: int) -> None:
    found = [compared(replace(call, model=model.id), None) for _, model in MODELS[start::10]]
    assert any(found)
    assert not all(found)


@settings(max_examples=20, deadline=None)
@given(call=calls())
def test_a_call_that_must_stay_in_the_united_states_costs_a_tenth_more(call: UsageCall) -> None:
    call = replace(call, model="claude-opus-5-5", web_searches=0)
    there = replace(call, context=f"{call.context} us")
    here, us = PRICES.tariff_of(call), PRICES.tariff_of(there)
    assert here is not None
    assert us is not None
    # These rates are divisible by ten, so nothing is rounded.
    assert cost(there, us) * 10 == cost(call, here) * 11


def test_the_rates_with_more_places_are_few() -> None:
    # They are quotients that a float cut short, and the only ones that are rounded.
    uneven = [model.id for _, model in MODELS for prices in charged(model) if _uneven(prices)]
    assert len(uneven) < len(MODELS) // 50
    assert not [name for name in uneven if name.startswith(("claude", "gpt", "gemini"))]
