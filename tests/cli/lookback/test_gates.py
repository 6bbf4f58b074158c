"""The line of a look back about money writes amounts as every other place does."""

from __future__ import annotations

import pytest

from watchgate.cli.lookback.gates import spent
from watchgate.cli.lookback.words import Page
from watchgate.core.lookback.cost import Cost
from watchgate.core.lookback.report import Report

CENT = 10_000_000


@pytest.mark.parametrize(
    ("cost", "words"),
    [
        (Cost(usd_nano=CENT // 4, tokens=812), " cost       $0.003  812 tokens"),
        (Cost(usd_nano=3_100 * 100 * CENT, tokens=731_400_000), "$3,100.00  731 M tokens"),
        (Cost(usd_nano=CENT, is_lower_bound=True, tokens=402_000), ">= $0.01  402 k tokens"),
        (Cost(tokens=9, unpriced=("a", "b")), "?  9 tokens  2 models without a price"),
    ],
)
def test_money_and_tokens_are_written_as_by_the_other_commands(cost: Cost, words: str) -> None:
    page = Page(report=Report(since_us=0, now_us=1), cost=cost, cells=80, span="", shown=0)
    (line,) = spent(page)
    assert "".join(span.text for span in line).endswith(words)
