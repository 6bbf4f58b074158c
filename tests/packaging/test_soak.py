"""What the soak takes for a leak, and what it does not."""

from __future__ import annotations

from importlib import import_module

import pytest

from bench.soak import MODEL_CALL_BYTES, Sample, faults
from bench.soak_core import FEW, FEW_GIVEN


def samples(per_event: int = 0, descriptors: int = 0) -> list[Sample]:
    return [
        Sample(
            events=part * 3_800,
            model_calls=part * 600,
            rss_bytes=80_000_000 + per_event * part * 3_800,
            descriptors=20 + descriptors * part,
            threads=9,
            journal_bytes=1,
        )
        for part in range(1, 11)
    ]


def test_what_stays_as_it_is_is_no_leak() -> None:
    assert faults(samples()) == []


def test_what_calls_of_models_cost_is_kept() -> None:
    assert faults(samples(per_event=MODEL_CALL_BYTES * 600 // 3_800)) == []


def test_memory_that_grows_with_every_event_of_an_hour_is_one() -> None:
    (fault,) = faults(samples(per_event=500))
    assert fault.startswith("memory grew by 9,500,000 bytes over the last 19,000 events")


def test_so_are_descriptors_that_are_never_closed() -> None:
    assert faults(samples(descriptors=1)) == ["descriptors grew from 25 to 30"]


@pytest.mark.parametrize("module", FEW)
def test_the_core_of_the_soak_lowers_bounds_that_there_are(module: str) -> None:
    found = vars(import_module(module))
    assert all(found[name] > most for name, most in FEW[module].items())


def test_and_those_that_are_defaults_of_a_function() -> None:
    for made, name, most in FEW_GIVEN:
        assert (made.__kwdefaults__ or {})[name] > most
