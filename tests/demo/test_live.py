from __future__ import annotations

import os
from pathlib import Path

from tests.e2e.programs import until
from watchgate.demo.live import demo_core
from watchgate.link.once import call_once
from watchgate.link.protocol import Request, Result


def _asked(socket: Path, what: str) -> list[dict[str, object]]:
    answer = call_once(socket, Request(id=1, verb="list", what=what))  # type: ignore[arg-type]
    assert isinstance(answer, Result)
    found: list[dict[str, object]] = answer.ok[what]
    return found


def test_the_demo_runs_in_a_directory_of_its_own_and_leaves_nothing() -> None:
    user = Path(os.environ["WATCHGATE_STATE_DIR"])
    with demo_core(speed=100) as (paths, _):
        root = paths.runtime_dir.parent
        until(lambda: _asked(paths.control_socket, "sessions"), "a session")
        until(lambda: _asked(paths.control_socket, "requests"), "a request")
    assert not root.exists()
    assert not user.exists()
