"""A filter means the same on every screen: the live table and the history keep the same calls."""

from __future__ import annotations

import pytest

from tests.core.state.test_state import HISTORY
from watchgate.core.filters.filter_fields import ROW_FIELDS, history_test
from watchgate.core.filters.filter_keys import LANES, RISK_RANK
from watchgate.core.filters.filter_parser import parse
from watchgate.core.history.call_history import fold_history
from watchgate.core.history.history_row import lean
from watchgate.core.model.outcomes import ENDINGS

TABLE = list(HISTORY.state.rows)
ALIVE = {(r.agent, r.session, r.call) for r in TABLE if r.stage in ("pending", "running")}
PAST = fold_history(HISTORY.records, len(HISTORY.records), alive=ALIVE)
RULES = {row.rule for row in TABLE if row.rule}
TERMS = [
    *(f"agent:{name}" for name in {row.agent for row in TABLE}),
    *(f"session:{id}" for id in {row.session for row in TABLE}),
    *(f"tool:{name}" for name in {row.tool for row in TABLE}),
    *(f"lane:{lane}" for lane in LANES),
    *(f"risk:{risk}" for risk in RISK_RANK),
    *(f"risk>={risk}" for risk in RISK_RANK),
    *(f'rule:"{rule}"' for rule in RULES),
    *(f"by:{who}" for who in ("operator", "nobody", "grant")),
    *(f"state:{word}" for word in ENDINGS),
    *(f"state:{word}" for word in ("denied", "allowed", "timed-out", "DENIED-BUT-RAN", "failed")),
    *(f"took{than}" for than in (">0ms", ">=1s", "<5s")),
    "kind:tool.*",
    "kind:approval.*",
    "host:here",
]


@pytest.mark.parametrize("term", sorted(TERMS))
@pytest.mark.parametrize("sign", ["", "-"])
def test_the_table_and_the_history_keep_the_same_calls(sign: str, term: str) -> None:
    wanted = parse(sign + term)
    of_row, of_past = wanted.over(ROW_FIELDS), history_test(wanted)
    assert of_row is not None
    table = {(row.agent, row.session, row.call) for row in TABLE if of_row(row)}
    assert {(row.agent, row.session, row.call) for row in PAST if of_past(row)} == table


def test_the_calls_of_this_history_differ_enough() -> None:
    """Otherwise the test above would pass with a filter that keeps all or nothing."""
    kept = [sum(map(history_test(parse(term)), PAST)) for term in TERMS]
    assert sum(0 < each < len(PAST) for each in kept) > 20


def test_what_is_read_of_a_record_is_all_that_the_rows_need() -> None:
    assert fold_history(map(lean, HISTORY.records), len(PAST), alive=ALIVE) == PAST
