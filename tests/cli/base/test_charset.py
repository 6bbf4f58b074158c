"""When a terminal is taken for one that shows ASCII alone."""

from __future__ import annotations

import pytest

from watchgate.cli.base.command_environment import ascii_terminal


@pytest.mark.parametrize(
    ("environ", "ascii_alone"),
    [
        ({"LANG": "en_US.UTF-8"}, False),
        ({"LANG": "de_DE.utf8@euro"}, False),
        ({"LC_CTYPE": "UTF-8"}, False),
        ({"LC_ALL": "C"}, True),
        ({"LANG": "POSIX"}, True),
        ({"LC_ALL": "en_US.ISO-8859-1", "LANG": "en_US.UTF-8"}, True),
        ({"LC_ALL": "C.UTF-8", "LANG": "C"}, False),
        ({"LANG": "C", "LC_CTYPE": "C.UTF-8"}, True),
        ({"LC_CTYPE": "C.UTF-8"}, False),
        ({"LC_ALL": "", "LANG": "en_US.UTF-8"}, False),
        ({}, False),
    ],
)
def test_the_first_variable_that_is_set_counts(environ: dict[str, str], ascii_alone: bool) -> None:
    assert ascii_terminal(environ) is ascii_alone
