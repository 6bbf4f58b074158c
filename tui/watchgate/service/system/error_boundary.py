"""The one place where any error is caught: what fails for one connection ends with that connection.

A fault of this program must not take the gate away from every other agent. Whoever opens a boundary
says what becomes of the connection: a gate is answered closed, a control request refused.
"""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TypeVar

T = TypeVar("T")


@contextmanager
def contain_errors(failed: Callable[[str], None]) -> Iterator[None]:
    """Runs the block; when anything fails in it, calls `failed` with the error's type and place."""
    try:
        yield
    except Exception as fault:  # noqa: BLE001 - the boundary of a connection, see above
        failed(_where(fault))


def contain_each(
    items: Iterable[T], do: Callable[[T], None], failed: Callable[[str], None]
) -> None:
    """Calls `do` with every item; one that fails is reported and does not stop those after it."""
    for item in items:
        try:
            do(item)
        except Exception as fault:  # noqa: BLE001 - as in `contain_errors`, and far cheaper
            failed(_where(fault))


def _where(fault: BaseException) -> str:
    """Returns the error's type and place, and none of its text: that may come from outside."""
    while isinstance(fault, BaseExceptionGroup):
        fault = fault.exceptions[0]
    frames = traceback.extract_tb(fault.__traceback__, limit=-1)
    place = f" at {frames[-1].filename.rpartition('/')[2]}:{frames[-1].lineno}" if frames else ""
    return f"{type(fault).__name__}{place}"
