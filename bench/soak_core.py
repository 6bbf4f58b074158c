"""A core that keeps little: what is kept on purpose is full soon, and what still grows is a leak.

Most of what a core keeps has a bound that an hour of work does not reach, such as 100,000 rows of
calls or 2,000 sessions; here the bounds are such that a quarter of the hour does. With
`WATCHGATE_SOAK_LEAK` a leak of so many bytes for each event is planted, which the soak has to find.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from importlib import import_module
from typing import Any, Final

from watchgate.cli import main
from watchgate.core.engine import Engine
from watchgate.core.restore import restore
from watchgate.core.session_views import SessionViews
from watchgate.core.state import State
from watchgate.core.traces import Traces
from watchgate.core.usage.fold import UsageFold

ROWS = 1_000
SESSIONS = 75
REQUESTS = 200

FEW: Final[Mapping[str, Mapping[str, int]]] = {
    "watchgate.core.approvals": {"SETTLED_KEPT": REQUESTS},
    "watchgate.core.bus": {"SESSIONS_KEPT": SESSIONS},
    "watchgate.core.calls": {"SESSIONS_KEPT": SESSIONS, "ALL_ENDED_KEPT": ROWS},
    "watchgate.core.coverage": {
        "SESSIONS_KEPT": SESSIONS,
        "OVER_KEPT": SESSIONS // 2,
        "ALL_IDS_KEPT": ROWS,
    },
    "watchgate.core.hearings": {"ENDED_KEPT": SESSIONS},
    "watchgate.core.ledger.told": {"SESSIONS_KEPT": SESSIONS},
    "watchgate.core.pacing": {"_SESSIONS_KEPT": SESSIONS},
    "watchgate.core.policy.kept": {"KEPT": REQUESTS},
    "watchgate.core.retries": {"_SESSIONS_KEPT": SESSIONS},
    "watchgate.core.usage.fold": {"TOOLS_KEPT": ROWS},
    "watchgate.service.askers": {"ACCOUNTED_KEPT": SESSIONS},
    "watchgate.service.coverage.transcripts": {"NEWEST": SESSIONS, "NAMED_KEPT": SESSIONS},
    "watchgate.service.coverage.watch": {"SESSIONS_KEPT": SESSIONS},
    "watchgate.service.journal.retention": {"LOOK_EACH_S": 1},
    "watchgate.service.thinning": {"REMEMBERED": REQUESTS},
    "watchgate.service.usage.follow": {"SAVE_S": 10},
}
"""Bounds by module and name, as they are looked up where they hold.

The hour passes in some minutes: what is done now and then is done more often, too.
"""

FEW_GIVEN: Final = (
    (State.__init__, "rows_kept", ROWS),
    (restore, "rows_kept", ROWS),
    (SessionViews.__init__, "kept", SESSIONS),
    (Traces.__init__, "kept", ROWS),
    (UsageFold.__init__, "kept", SESSIONS),
)
"""Bounds that are defaults of a function."""


def keep_few() -> None:
    """Have everything that is made from here on keep less."""
    for name, bounds in FEW.items():
        module = import_module(name)
        for bound, most in bounds.items():
            assert isinstance(getattr(module, bound), int | float)
            setattr(module, bound, most)
    for made, name, most in FEW_GIVEN:
        defaults = made.__kwdefaults__
        assert defaults is not None
        assert name in defaults
        defaults[name] = most


def leak(size_bytes: int) -> None:
    """Keep so many bytes more with each event, for good."""
    kept: list[bytes] = []
    receive = Engine.receive

    def leaking(self: Engine, *given: Any) -> Any:
        kept.append(os.urandom(size_bytes))
        return receive(self, *given)

    setattr(Engine, "receive", leaking)  # noqa: B010 - a method is not for assignment to mypy


if __name__ == "__main__":
    keep_few()
    if size := int(os.environ.get("WATCHGATE_SOAK_LEAK", "0")):
        leak(size)
    sys.exit(main(["serve"]))
