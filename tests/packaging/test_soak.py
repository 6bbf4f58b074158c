"""What the soak takes for a leak, and what it does not."""

from __future__ import annotations

from bench.soak import GROWTH_BYTES_PER_EVENT, SLACK_BYTES, Sample, faults


def samples(per_event: int = 0, descriptors: int = 0) -> list[Sample]:
    return [
        Sample(
            events=part * 100_000,
            rss_bytes=80_000_000 + per_event * part * 100_000,
            descriptors=20 + descriptors * part,
            threads=9,
            journal_bytes=1,
        )
        for part in range(1, 11)
    ]


def test_what_stays_as_it_is_is_no_leak() -> None:
    assert faults(samples()) == []


def test_memory_that_grows_with_every_event_is_one() -> None:
    assert SLACK_BYTES < GROWTH_BYTES_PER_EVENT * 500_000
    (fault,) = faults(samples(per_event=1_000))
    assert fault.startswith("memory grew")


def test_so_are_descriptors_that_are_never_closed() -> None:
    assert faults(samples(descriptors=1)) == ["descriptors grew from 25 to 30"]
