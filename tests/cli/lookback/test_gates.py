"""The line of a look back about money writes amounts as every other place does."""

from __future__ import annotations

import pytest

from watchgate.cli.lookback.lookback_page import LookbackPage, spent
from watchgate.core.lookback.lookback_report import LookbackReport, ModelCost

CENT = 10_000_000


@pytest.mark.parametrize(
    ("cost", "words"),
    [
        (ModelCost(usd_nano=CENT // 4, tokens=812), " cost       $0.003  812 tokens"),
        (ModelCost(usd_nano=3_100 * 100 * CENT, tokens=731_400_000), "$3,100.00  731 M tokens"),
        (ModelCost(usd_nano=CENT, is_lower_bound=True, tokens=402_000), ">= $0.01  402 k tokens"),
        (ModelCost(tokens=9, unpriced=("a", "b")), "?  9 tokens  2 models without a price"),
    ],
)
def test_money_and_tokens_are_written_as_by_the_other_commands(cost: ModelCost, words: str) -> None:
    page = LookbackPage(
        report=LookbackReport(since_us=0, now_us=1), cost=cost, cells=80, span="", shown=0
    )
    (line,) = spent(page)
    assert "".join(span.text for span in line).endswith(words)
