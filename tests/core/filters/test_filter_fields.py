from __future__ import annotations

from typing import Any

import pytest

from watchgate.core.filters.filter_fields import record_text
from watchgate.core.model.records import Record

GIVEN = {"id": "a41fkk", "scope": "always", "summary": "npm run build", "by": "operator ann"}
USED = {"grant": "a41fkk", "hits": 3, "used_at": 1, "until_at": 2}
OVER = {"grant": "a41fkk", "why": "it was taken back", "by": "operator ann"}


@pytest.mark.parametrize(
    ("kind", "data", "line"),
    [
        ("grant.given", GIVEN, "#a41f  always  npm run build  operator ann"),
        ("grant.used", USED, "#a41f  used 3 x"),
        ("grant.revoked", OVER, "#a41f  operator ann  it was taken back"),
    ],
)
def test_what_became_of_a_grant_is_one_line(kind: str, data: dict[str, Any], line: str) -> None:
    assert record_text(Record(v=1, seq=1, core="c", at=1, kind=kind, data=data)) == line
