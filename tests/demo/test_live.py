from __future__ import annotations

import os
from pathlib import Path

from tests.e2e.programs import until
from watchgate.demo.live import demo_core
from watchgate.link.once import call_once
from watchgate.link.protocol import Request, Result


def _recorded(socket: Path, kind: str) -> bool:
    """Whether there was one: at this speed none lasts until the next look."""
    answer = call_once(socket, Request(id=1, verb="history", from_seq=1))
    assert isinstance(answer, Result)
    return any(record["kind"] == kind for record in answer.ok["records"])


def test_the_demo_runs_in_a_directory_of_its_own_and_leaves_nothing() -> None:
    user = Path(os.environ["WATCHGATE_STATE_DIR"])
    # Its hooks have 5 s by the demo's clock: faster, and a busy machine takes longer than that.
    with demo_core(speed=20) as (paths, _):
        root = paths.runtime_dir.parent
        until(lambda: _recorded(paths.control_socket, "session.start"), "a session")
        until(lambda: _recorded(paths.control_socket, "approval.requested"), "a request")
    assert not root.exists()
    assert not user.exists()
