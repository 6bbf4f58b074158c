"""`pin`, `unlock` and `token` where no terminal is, which is where most of them say no."""

from __future__ import annotations

import pytest

from tests.cli.conftest import Cli, Core
from watchgate.cli.base.printing import Exit


@pytest.mark.parametrize("args", [("pin", "set"), ("pin", "remove"), ("unlock",), ("lock",)])
def test_a_pin_comes_from_a_terminal_and_from_nowhere_else(
    cli: Cli, core: Core, args: tuple[str, ...]
) -> None:
    said = cli(*args)
    assert (said.code, said.out) == (Exit.USAGE, "")
    assert "terminal" in said.err


def test_no_pin_is_an_argument(cli: Cli) -> None:
    assert cli("pin", "set", "4711471").code == Exit.USAGE
    assert cli("pin").code == Exit.USAGE


@pytest.mark.parametrize("args", [("token", "ls"), ("token", "add", "x"), ("token", "revoke", "x")])
def test_without_a_core_there_are_no_tokens(cli: Cli, args: tuple[str, ...]) -> None:
    assert cli(*args).code == Exit.NO_CORE
