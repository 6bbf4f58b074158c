from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

from tests.cli.conftest import Cli, Core, Said
from tests.terminal import Terminal
from watchgate.cli.base.printing import Exit
from watchgate.core.config.config import Config

Held = Callable[..., dict[str, Any]]


@pytest.fixture
def config() -> Config:
    """Everything is asked about."""
    return Config(profile="strict")


def allow(cli: Cli, request: dict[str, Any], *more: str) -> Said:
    return cli("allow", request["id"], "--digest", request["digest"], "--as", "kim", *more)


def asked_three_times(cli: Cli, held: Held) -> None:
    for number in range(3):
        request = held(f"frobnicate build {number}", f"c{number}")
        assert allow(cli, request).code == Exit.DONE


def test_grants_are_listed_with_who_gave_them_and_what_they_let_run(cli: Cli, held: Held) -> None:
    asked_three_times(cli, held)
    allow(cli, held("frobnicate build x", "c9"), "--scope", "always")
    allow(cli, held("frobnicate clean", "c10"), "--scope", "session")
    first, second = cli("grants", "--json").lines
    assert (first["scope"], first["folder"], first["agent"]) == ("always", "/srv/app", "claude")
    assert first["rules"][0]["words"] == ["frobnicate", "build"]
    assert first["by"].startswith("operator kim")
    assert (second["scope"], second["summary"]) == ("session", "frobnicate clean")
    said = cli("grants").out
    for part in ("frobnicate build *", "operator kim", "never", "unused", "with the session"):
        assert part in said


def test_a_width_reaches_further_from_the_first_request_on(
    cli: Cli, held: Held, core: Core
) -> None:
    request = held("frobnicate build x", "c1")
    wide = allow(cli, request, "--scope", "session", "--width", "program")
    assert wide.code == Exit.DONE
    assert core.hold("frobnicate build y", "c2").recv(1), "answered without being asked"
    refused = allow(cli, held("frobnicate clean", "c3"), "--scope", "15m", "--width", "folder")
    assert refused.code == Exit.USAGE
    assert "no rule knows a command of it: allow its program instead" in refused.err
    (grant,) = cli("grants", "--json").lines
    assert (grant["scope"], grant["width"], grant["hits"]) == ("session", "program", 1)


def test_a_grant_says_how_often_it_answered_and_when_last(cli: Cli, held: Held, core: Core) -> None:
    allow(cli, held("frobnicate clean", "c1"), "--scope", "session")
    hook = core.hold("frobnicate clean", "c2")
    assert hook.recv(1), "answered without being asked"
    (grant,) = cli("grants", "--json").lines
    assert (grant["hits"], grant["used_at"] > 0) == (1, True)
    assert re.search(r"1 x, \d{4}-\d\d-\d\d \d\d:\d\d", cli("grants").out)


def test_a_grant_is_taken_back_by_a_prefix(cli: Cli, held: Held) -> None:
    asked_three_times(cli, held)
    request = held("frobnicate build x", "c9")
    allow(cli, request, "--scope", "always")
    said = cli("grants", "revoke", request["id"][:6])
    assert said.code == Exit.DONE
    assert "is taken back: what it answered is asked again" in said.out
    assert cli("grants", "--json").out == ""


def test_the_rule_can_be_said(cli: Cli, held: Held) -> None:
    asked_three_times(cli, held)
    request = held("frobnicate build x", "c9")
    wrong = allow(cli, request, "--scope", "always", "--rule", "rm *")
    assert (wrong.code, "covers no part of this call" in wrong.err) == (Exit.USAGE, True)
    assert allow(cli, request, "--scope", "always", "--rule", "frobnicate *").code == Exit.DONE
    assert "frobnicate *" in cli("grants").out


def test_at_a_terminal_the_rule_and_the_past_are_shown_before_the_typed_word(
    cli: Cli, held: Held
) -> None:
    asked_three_times(cli, held)
    request = held("frobnicate build x", "c9")
    with Terminal("allow", request["id"], "--scope", "always") as terminal:
        terminal.wait_for("Type yes")
        for part in (
            "always, in /srv/app and nowhere else",
            "frobnicate build *",
            "would have answered 3",
            "frobnicate build 2",
        ):
            assert part in terminal.seen
        terminal.type("yes\n")
        assert terminal.code() == Exit.DONE
    assert len(cli("grants", "--json").lines) == 1


def test_without_a_grant_it_says_what_that_means(cli: Cli, core: Core) -> None:
    assert cli("grants").out == "no grant is in force: every call that is held is asked about\n"
    assert cli("grants", "ls", "--json").out == ""


def test_without_a_core_it_says_so(cli: Cli) -> None:
    assert cli("grants").code == Exit.NO_CORE


def test_a_grant_that_is_not_there_cannot_be_taken_back(cli: Cli, core: Core) -> None:
    said = cli("grants", "revoke", "zzzz")
    assert (said.code, "unknown_id" in said.err) == (Exit.REFUSED, True)


@pytest.mark.parametrize(
    ("args", "says"),
    [
        (("--rule", "git *"), "--rule goes with --scope always"),
        (("--width", "program"), "--width goes with a --scope beyond once"),
        (("--scope", "always", "--width", "exact", "--rule", "git *"), "--rule goes with"),
        (("--scope", "always", "--rule", "git 'x"), "cannot be read"),
        (("--scope", "always", "--rule", " *"), "names no program"),
    ],
)
def test_a_rule_that_cannot_be_meant_is_a_usage_error(
    cli: Cli, args: tuple[str, ...], says: str
) -> None:
    said = cli("allow", "abcd", "--digest", "0" * 64, *args)
    assert (said.code, says in said.err) == (Exit.USAGE, True)
