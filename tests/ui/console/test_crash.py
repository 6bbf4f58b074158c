"""What a crash of the console leaves in the shell."""

from __future__ import annotations

import pytest

from watchgate.ui.console.message_handlers import report
from watchgate.ui.view_model.console_options import Options


def failed() -> Exception:
    secret = "AKIA" + "IOSFODNN7EXAMPLE"
    try:
        raise ValueError(f"cannot draw \x1b]0;pwned\x07 with {secret}")
    except ValueError as fault:
        return fault


def test_where_it_failed_is_told_without_controls_and_secrets() -> None:
    told = report(failed(), Options())
    assert "test_crash.py" in told
    assert "ValueError: cannot draw <U+001B>]0;pwned<U+0007>" in told
    assert "IOSFODNN7EXAMPLE" not in told
    assert "\x1b" not in told


@pytest.mark.parametrize(
    ("options", "after"),
    [
        (Options(), "the core goes on, `watchgate` attaches again"),
        (
            Options(hosted=True),
            "acting calls are denied where hooks gate until `watchgate` runs again",
        ),
        (Options(demo=True, hosted=True), "the demo leaves nothing behind"),
    ],
)
def test_the_last_line_says_what_it_means(options: Options, after: str) -> None:
    last = report(failed(), options).splitlines()[-1]
    assert last.startswith("watchgate: the console crashed")
    assert last.endswith(after)
