"""Python that does something is judged as that, and what cannot be followed stays high."""

from __future__ import annotations

import pytest

from tests.core.policy.calls import rules
from tests.core.policy.code.python.samples import Sample, judged, samples
from watchgate.core.policy.code.code_reading import read


@pytest.mark.parametrize("sample", samples("evasions.txt"))
def test_code_that_may_do_anything_stays_high(sample: Sample) -> None:
    found = judged(sample[1])
    assert found.decision == "ask"
    assert found.risk in ("high", "critical")


@pytest.mark.parametrize("sample", samples("effects.txt"))
def test_what_code_does_is_judged_as_the_command_that_does_the_same(sample: Sample) -> None:
    rule, code = sample
    found = judged(code)
    assert found.decision == "ask"
    assert rule in rules(found)


@pytest.mark.parametrize(
    ("code", "why"),
    [
        ("exec(x)", "Runs Python that calls exec"),
        ("().__class__", "Runs Python that uses __class__, which may lead anywhere"),
        ("x = (", "Runs Python that cannot be parsed"),
        ("f(" * 70 + ")" * 70, "Runs Python that is nested deeper than anybody reads"),
        ("sorted([], key=eval)", "Runs Python that hands on eval, which may then do anything"),
    ],
)
def test_the_reason_names_what_is_not_understood(code: str, why: str) -> None:
    assert read("python", code).unread == why
