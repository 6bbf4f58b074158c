"""Which numbers of a call are processes of ours, asked of the system."""

from __future__ import annotations

import os
import subprocess
import sys

from tests.core.builders import shell
from watchgate.service.host.core_identity import OwnProcesses


def test_the_core_is_ours_and_a_stranger_is_not() -> None:
    own = OwnProcesses(os.getpid())
    assert own(shell(f"kill {os.getpid()} 1")) == {os.getpid()}
    assert own(shell("ls")) == frozenset()


def test_a_client_is_ours_while_it_is_connected_and_so_is_its_group() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", "input()"], stdin=subprocess.PIPE, start_new_session=True
    ) as client:
        pids = [client.pid]
        own = OwnProcesses(0)
        own.clients.append(lambda: pids)
        assert own(shell(f"kill -- -{client.pid}")) == {client.pid}
        pids.clear()
        assert own(shell(f"kill {client.pid}")) == frozenset()


def test_no_core_is_nobody() -> None:
    assert OwnProcesses(0)(shell("kill 0")) == frozenset()
