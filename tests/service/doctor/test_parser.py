"""Can shell commands be read here, and what follows where they cannot?"""

from __future__ import annotations

import pytest

from watchgate.core.policy.shell import grammar
from watchgate.service.doctor.machine_checks import check_parser


def test_a_parser_that_is_there_is_no_fault() -> None:
    assert check_parser().status == "ok"


def test_a_missing_parser_is_a_fault_with_its_consequence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(grammar, "_LANGUAGE", None)
    check = check_parser()
    assert check.status == "fail"
    assert "counts as unknown" in check.text
    assert "install watchgate again" in check.mend
