"""`watchgate config init|set|get`: a file to start with, and one key of it."""

from __future__ import annotations

import os
import re
import stat
from pathlib import Path

import pytest

from tests.cli.conftest import Cli, Core
from watchgate.cli.base.printing import Exit
from watchgate.core.config.config import Config, effective, load

MINE = """# My own.
[approval]
timeout_s = 60  # short

[ui]
bell = false
"""


@pytest.fixture
def path() -> Path:
    return Path(os.environ["WATCHGATE_CONFIG"])


@pytest.fixture
def mine(path: Path) -> Path:
    path.parent.mkdir(parents=True)
    path.write_text(MINE)
    return path


def test_init_writes_a_file_for_the_user_alone_and_no_second_time(cli: Cli, path: Path) -> None:
    said = cli("config", "init")
    assert (said.code, str(path) in said.out) == (Exit.DONE, True)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert load(path.read_text(), "config.toml") == Config()
    path.write_text("profile = 'strict'\n")
    again = cli("config", "init")
    assert (again.code, "is there already" in again.err) == (Exit.REFUSED, True)
    assert path.read_text() == "profile = 'strict'\n"


def test_what_init_writes_shows_every_key_with_its_default(cli: Cli, path: Path) -> None:
    cli("config", "init")
    values = re.sub(r"(?m)^# (?=\w+ = )", "", path.read_text())
    values = values.replace("total_timeout_s = 30", "")
    assert load(values, "config.toml") == Config()
    lists = ("handler", "extension", "sink", "escalation", "price")
    for key, _, _ in effective(Config(), {}):
        assert re.search(rf"(?m)^# {key.rpartition('.')[2]} = ", path.read_text()) or key in lists


def test_a_key_is_set_where_its_default_stands(cli: Cli, path: Path) -> None:
    cli("config", "init")
    assert cli("config", "set", "approval.timeout_s", "120").code == Exit.DONE
    assert "[approval]\ntimeout_s = 120\n# timeout_s = 300" in path.read_text()


def test_comments_and_order_stay(cli: Cli, mine: Path) -> None:
    said = cli("config", "set", "approval.timeout_s", "90")
    assert said.out.splitlines() == [
        f"approval.timeout_s is 90 in {mine}",
        "No core runs: the next one has it.",
    ]
    assert mine.read_text() == MINE.replace("60", "90")


def test_a_file_that_is_missing_is_made(cli: Cli, path: Path) -> None:
    assert cli("config", "set", "journal.content", "none").code == Exit.DONE
    assert path.read_text() == '[journal]\ncontent = "none"\n'


@pytest.mark.parametrize(
    ("key", "value", "written"),
    [
        ("ui.theme", "mono", 'theme = "mono"'),
        ("ui.theme", '"mono"', 'theme = "mono"'),
        ("ui.ascii", "true", "ascii = true"),
        ("ui.keys.allow_once", "8", 'allow_once = "8"'),
        ("agents.python", '["mine"]', 'python = ["mine"]'),
    ],
)
def test_a_value_is_read_as_toml_and_a_text_needs_no_quotes(
    cli: Cli, mine: Path, key: str, value: str, written: str
) -> None:
    assert cli("config", "set", key, value).err == ""
    assert written in mine.read_text()


@pytest.mark.parametrize(
    ("key", "value", "why"),
    [
        ("ui.theme", "pink", "allowed: textual-dark, textual-light, mono"),
        ("profile", "guarded", "did you mean guard?"),
        ("approval.timeout_s", "soon", "a whole number"),
        ("approval.timeout_s", "0", "approval.timeout_s"),
        ("approval.timeouts", "3", "did you mean timeout_s?"),
        ("aproval.timeout_s", "3", "did you mean approval?"),
        ("ui.keys.allow_once", "no-such-key-at-all", "ui.keys"),
        ("handler", "x", "handler"),
        ("approval", "3", "approval is a table"),
        ("", "3", "'' is no key"),
        ("ui.keys.'a.b'", "3", "is no key"),
        ("ui.bell", "nan", "true or false"),
        ("ui.bell", "1e400", "true or false"),
        ("ui.theme", "1979-05-27", "allowed: textual-dark"),
        ("approval.timeout_s", "1979-05-27", "expected a whole number, got a date"),
        ("approval.timeout_s", "9" * 40, "a whole number <= 86400"),
        ("approval.timeout_s", "9" * 5_000, "too many digits"),
        ("approval.timeout_s", "0x" + "f" * 5_000, "TOML cannot hold this value"),
        ("approval.timeout_s", "[" * 5_000, "nested too deeply"),
        ("approval.timeout_s", "[[1], {a = [2]}]", "expected a whole number, got a list"),
        ("ui.theme", "\udcff", "TOML cannot hold this value"),
        ("ui.keys.deny", "\x7f", "no terminal sends"),
        ("agents.python", '[]\nprofile = "watch"', "expected a list"),
        ("profile", '"watch"\n[ui]', "is not allowed"),
    ],
)
def test_what_no_core_would_take_is_not_written(
    cli: Cli, mine: Path, key: str, value: str, why: str
) -> None:
    said = cli("config", "set", key, value)
    assert (said.code, said.out) == (Exit.REFUSED, "")
    assert why in said.err
    assert said.err.endswith("; nothing was changed\n")
    assert mine.read_text() == MINE


@pytest.mark.parametrize("value", ["watch", '"watch"', "'watch' # for now", '"""watch"""'])
def test_a_profile_that_holds_less_needs_a_person_however_it_is_written(
    cli: Cli, mine: Path, value: str
) -> None:
    said = cli("config", "set", "profile", value)
    assert (said.code, said.out) == (Exit.USAGE, "")
    assert "watch holds less than guard: a person has to type the word" in said.err
    assert mine.read_text() == MINE


@pytest.mark.parametrize("action", ["allow", "allow_once"])
def test_a_key_that_is_taken_is_refused_with_its_file(cli: Cli, path: Path, action: str) -> None:
    said = cli("config", "set", f"ui.keys.{action}", "z")
    assert said.err == (
        f"watchgate: {path}: ui.keys: 'z' is both allow and freeze; nothing was changed\n"
    )
    assert not path.exists()


@pytest.mark.parametrize(
    ("key", "value", "shown"),
    [
        ("escalation", "[]", "[]"),
        ("agents.python", "[]", "[]"),
        ("agents.python", '["a", "b"]', '["a","b"]'),
        ("ui.keys", "{}", "{}"),
        ("ui.ascii", "true", "true"),
        ("costs.budget_day_usd", "2", "2.0"),
    ],
)
def test_what_is_set_is_said_as_get_says_it(cli: Cli, key: str, value: str, shown: str) -> None:
    assert cli("config", "set", key, value).out.startswith(f"{key} is {shown} in ")


def test_who_has_it_and_when_is_said(cli: Cli, core: Core, mine: Path) -> None:
    assert "after `watchgate config reload`" in cli("config", "set", "approval.timeout_s", "9").out
    hooks = cli("config", "set", "approval.margin_s", "6").out
    assert "run `watchgate install` again" in hooks
    assert "A console has it from its next start" in cli("config", "set", "ui.ascii", "true").out
    assert "The running core took it at once" in cli("config", "set", "profile", "strict").out
    assert cli("status", "--json").lines[0]["profile"] == "strict"


def test_get_gives_one_value_or_a_table(cli: Cli, mine: Path) -> None:
    assert cli("config", "get", "approval.timeout_s").out == "60\n"
    assert cli("config", "get", "profile").out == "guard\n"
    assert "approval.relay_timeout_s.serial = 20" in cli("config", "get", "approval").out
    (row,) = cli("config", "get", "ui.bell", "--json").lines
    assert (row["value"], row["origin"]) == (False, f"{mine}:6")
    said = cli("config", "get", "aproval.timeout_s")
    assert (said.code, "did you mean approval.timeout_s?" in said.err) == (Exit.REFUSED, True)


@pytest.mark.parametrize("key", ["", ".", "approval.", "ui.keysx", "ui.keys.nonsense"])
def test_a_key_that_is_not_there_is_named(cli: Cli, key: str) -> None:
    said = cli("config", "get", key)
    assert (said.code, said.out) == (Exit.REFUSED, "")
    assert said.err.startswith(f"watchgate: there is no key '{key}';")
    assert said.err.endswith(" `watchgate config show` lists them\n")


def test_a_key_of_the_console_is_its_own_until_it_is_moved(cli: Cli, mine: Path) -> None:
    assert cli("config", "get", "ui.keys.allow").out == "a\n"
    assert cli("config", "get", "ui.keys.theme_mono").out == '""\n', "no key has it"
    (row,) = cli("config", "get", "ui.keys.allow_once", "--json").lines
    assert (row["value"], row["origin"]) == ("a", "default")
    cli("config", "set", "ui.keys.allow_once", "8")
    for name in ("allow", "allow_once"):
        (row,) = cli("config", "get", f"ui.keys.{name}", "--json").lines
        assert (row["value"], row["origin"]) == ("8", f"{mine}:9")
    lines = cli("config", "get", "ui.keys").out.splitlines()
    assert {"ui.keys.allow = 8", "ui.keys.deny = d"} <= set(lines)
    assert "ui.keys" not in cli("config", "get", "approval").out
