"""Which machines a console is attached to, and targets that name none."""

from __future__ import annotations

import os
from argparse import Namespace

import pytest

from tests.cli.conftest import Cli
from watchgate.cli.console.console_command import machines
from watchgate.link.paths import paths
from watchgate.service.system.system_clock import SystemClock
from watchgate.ui.fleet.fleet_source import FleetSource
from watchgate.ui.source.record_source import LinkSource, RecordSource


def _source(*targets: str, no_local: bool = False) -> RecordSource:
    chosen = machines(Namespace(targets=list(targets), no_local=no_local))
    return chosen.source(paths(os.environ), os.environ, SystemClock())


def _names(source: RecordSource) -> list[tuple[str, bool]]:
    assert isinstance(source, FleetSource)
    return [(host.name, host.view.local) for host in source.hosts]


def test_without_a_target_there_is_one_core_and_nothing_is_renamed() -> None:
    assert isinstance(_source(), LinkSource)


def test_targets_are_attached_to_beside_this_machine() -> None:
    assert _names(_source("ssh://lab2", "ssh://ana@lab3:22")) == [
        ("here", True),
        ("lab2", False),
        ("lab3", False),
    ]


def test_a_single_other_machine_is_not_taken_for_this_one() -> None:
    assert _names(_source("ssh://lab2", no_local=True)) == [("lab2", False)]


def test_a_target_that_is_called_here_keeps_its_name() -> None:
    (own, local), other = _names(_source("ssh://here"))
    assert (local, other) == (True, ("here", False))
    assert own != "here"


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["lab2"], "write ssh://[user@]host[:port]"),
        (["--", "-oProxyCommand=x"], "write ssh://[user@]host[:port]"),
        (["ssh://-oProxyCommand=x"], "does not name a machine"),
        (["ssh://lab2 rm"], "does not name a machine"),
        (["ssh://lab2:99999"], "a port is a number from 1 to 65535"),
        (["ssh://lab2", "ssh://ana@lab2"], "two targets are called lab2"),
        (["--no-local"], "--no-local needs a target"),
    ],
)
def test_a_bad_target_ends_the_command_with_how_to_write_it(
    cli: Cli, args: list[str], said: str
) -> None:
    ended = cli("attach", *args)
    assert ended.code == 2
    assert said in ended.err
    assert not ended.out
