from __future__ import annotations

import anyio
import pytest

from watchgate.service.system.error_boundary import contain_each, contain_errors


def told(fault: BaseException) -> list[str]:
    heard: list[str] = []
    with contain_errors(heard.append):
        raise fault
    return heard


def test_a_fault_becomes_its_type_and_place_without_its_text() -> None:
    (heard,) = told(ValueError("\x1b]0;text of a stranger"))
    assert heard.startswith("ValueError at test_error_boundary.py:")
    assert "stranger" not in heard


def test_a_group_is_told_by_its_first_fault() -> None:
    group = ExceptionGroup("many", [ExceptionGroup("inner", [KeyError("a")]), OSError("b")])
    assert told(group)[0].startswith("KeyError")


def test_one_of_many_that_fails_stops_none_after_it() -> None:
    heard: list[str] = []
    done: list[int] = []

    def halve(number: int) -> None:
        done.append(12 // number)

    contain_each([3, 0, 4], halve, heard.append)
    assert done == [4, 3]
    assert [fault.partition(" ")[0] for fault in heard] == ["ZeroDivisionError"]


def test_what_goes_well_tells_nothing() -> None:
    heard: list[str] = []
    with contain_errors(heard.append):
        pass
    assert heard == []


async def test_a_cancelled_task_is_no_fault() -> None:
    heard: list[str] = []
    with anyio.CancelScope() as scope:
        scope.cancel()
        with contain_errors(heard.append):
            await anyio.sleep_forever()
    assert heard == []


def test_an_interrupt_goes_through() -> None:
    with pytest.raises(KeyboardInterrupt):
        told(KeyboardInterrupt())
