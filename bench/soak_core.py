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
from watchgate.core.gate.engine import Engine
from watchgate.core.state.restore import restore
from watchgate.core.state.session_views import SessionViews
from watchgate.core.state.state import State
from watchgate.core.state.traces import Traces
from watchgate.core.usage.usage_fold import UsageFold

ROWS = 1_000
SESSIONS = 75
REQUESTS = 200

FEW: Final[Mapping[str, Mapping[str, int]]] = {
    "watchgate.core.gate.broker": {"SETTLED_MAX": REQUESTS},
    "watchgate.core.dispatch.handler_bus": {"ONCE_SESSIONS_MAX": SESSIONS},
    "watchgate.core.gate.call_tracker": {
        "CALL_SESSIONS_MAX": SESSIONS,
        "ALL_ENDED_CALLS_MAX": ROWS,
    },
    "watchgate.core.gate.gate_coverage": {
        "COVERED_SESSIONS_MAX": SESSIONS,
        "ENDED_SESSIONS_MAX": SESSIONS // 2,
        "ALL_IDS_MAX": ROWS,
    },
    "watchgate.core.gate.pending_dispatches": {"ENDED_SESSIONS_MAX": SESSIONS},
    "watchgate.core.usage.reported_calls": {"MAX_SESSIONS": SESSIONS},
    "watchgate.core.gate.rate_limit": {"_SESSIONS_MAX": SESSIONS},
    "watchgate.core.gate.policy_gate": {"ASSESSMENTS_MAX": REQUESTS},
    "watchgate.core.gate.retries": {"_SESSIONS_MAX": SESSIONS},
    "watchgate.core.usage.usage_fold": {"MAX_TOOLS": ROWS},
    "watchgate.service.identity.agent_processes": {"MAX_ACCOUNTED": SESSIONS},
    "watchgate.service.watch.coverage.ran_calls": {"NEWEST": SESSIONS, "MAX_NAMED": SESSIONS},
    "watchgate.service.watch.coverage.coverage_comparison": {"MAX_SESSIONS": SESSIONS},
    "watchgate.service.journal.journal_retention": {"LOOK_EACH_S": 1},
    "watchgate.service.control.caller": {"REMEMBERED": REQUESTS},
    "watchgate.service.usage.usage_follow": {"SAVE_S": 10},
}
"""Bounds by module and name, as they are looked up where they hold.

The hour passes in some minutes: what is done now and then is done more often, too.
"""

FEW_GIVEN: Final = (
    (State.__init__, "max_rows", ROWS),
    (restore, "max_rows", ROWS),
    (SessionViews.__init__, "max_sessions", SESSIONS),
    (Traces.__init__, "max_traces", ROWS),
    (UsageFold.__init__, "max_sessions", SESSIONS),
)
"""Bounds that are defaults of a function."""


def keep_few() -> None:
    """Has everything that is made from here on keep less."""
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
    """Keeps so many bytes more with each event, for good."""
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
