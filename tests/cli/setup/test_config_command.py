from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.cli.conftest import Cli
from watchgate.cli.base.printing import Exit


@pytest.fixture
def config() -> Path:
    path = Path(os.environ["WATCHGATE_CONFIG"])
    path.parent.mkdir(parents=True)
    return path


def test_a_good_file_is_good(cli: Cli, config: Path) -> None:
    config.write_text('profile = "strict"\n')
    assert (cli("config", "check").code, "is good" in cli("config", "check").out) == (0, True)
    assert cli("config", "check", "--json").lines == [
        {"ok": True, "config": str(config), "core_lacks": []}
    ]


def test_no_file_is_fine_and_said(cli: Cli, config: Path) -> None:
    said = cli("config", "check")
    assert said.code == Exit.DONE
    assert "defaults are in force" in said.out


@pytest.mark.parametrize(
    ("text", "line", "allowed"),
    [
        ('\nprofile = "lax"\n', 2, "'watch', 'guard', 'strict'"),
        ("[approval]\ntimeout = 3\n", 2, "timeout_s"),
        ("[approval]\n\nunattended = 3\n", 3, "hold"),
        ("profile = \n", 1, "TOML"),
    ],
)
def test_a_bad_file_is_an_error_that_names_file_line_and_what_is_allowed(
    cli: Cli, config: Path, text: str, line: int, allowed: str
) -> None:
    config.write_text(text)
    for command in (("config", "check"), ("config", "show"), ("serve",)):
        said = cli(*command)
        assert (said.code, said.out) == (Exit.REFUSED, "")
        assert str(config) in said.err
        assert f"{line}" in said.err.replace(str(config), "")
        assert allowed.replace("'", "") in said.err.replace("'", "").replace('"', "")


def test_show_gives_each_value_with_its_origin(cli: Cli, config: Path) -> None:
    config.write_text("[approval]\ntimeout_s = 60\n")
    rows = {row["key"]: row for row in cli("config", "show", "--json").lines}
    assert (rows["approval.timeout_s"]["value"], rows["profile"]["origin"]) == (60, "default")
    assert rows["approval.timeout_s"]["origin"] == f"{config}:2"
    assert "approval.timeout_s" in cli("config", "show").out


def test_path_says_where_everything_is(cli: Cli, config: Path, runtime_dir: Path) -> None:
    (places,) = cli("config", "path", "--json").lines
    assert places["config"] == str(config)
    assert places["ingest"] == str(runtime_dir / "ingest.sock")
    assert set(places) >= {"runtime_dir", "control", "off", "journal", "log", "client"}
    assert str(config) in cli("config", "path").out


def test_path_works_although_the_file_is_bad(cli: Cli, config: Path) -> None:
    config.write_text("profile = [")
    assert cli("config", "path").code == Exit.DONE


def test_a_socket_path_that_is_too_long_is_a_readable_error(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("WATCHGATE_RUNTIME_DIR", str(tmp_path / ("x" * 120)))
    said = cli("config", "path")
    assert said.code == Exit.USAGE
    assert "WATCHGATE_RUNTIME_DIR" in said.err


@pytest.mark.parametrize(
    ("keys", "line", "says"),
    [
        ('deny = "N"\ndenny = "m"', 3, ["no action 'denny'", "allow"]),
        ('copy = "C"\ndeny = "enter"', 3, ["'deny' decides: Enter, Esc and ctrl+c never do that"]),
        ('copy = "ctrl+m"', 2, ["no terminal sends 'ctrl+m'"]),
        ('copy = "C"\ndown = "m C"', 2, ["'C' is both copy and down"]),
        ('deny = "a"', 2, ["'a' is both"]),
        ('approve = "y"', 2, ["no action 'approve'"]),
        ('allow = "y"\nallow_once = "a"', 3, ["allow_once is allow: keep one"]),
    ],
)
def test_a_key_that_no_console_takes_is_a_fault_at_its_line(
    cli: Cli, config: Path, keys: str, line: int, says: list[str]
) -> None:
    config.write_text(f"[ui.keys]\n{keys}\n")
    said = cli("config", "check")
    assert (said.code, said.out) == (Exit.REFUSED, "")
    assert f"{config}:{line}: ui.keys:" in said.err
    for part in says:
        assert part in said.err


@pytest.mark.parametrize("allow", ["allow", "allow_once"])
def test_keys_that_change_places_are_good(cli: Cli, config: Path, allow: str) -> None:
    config.write_text(f'[ui.keys]\ndeny = "a"\n{allow} = "d"\n')
    assert cli("config", "check").code == Exit.DONE


def test_entries_are_shown_by_their_names_without_their_environment(cli: Cli, config: Path) -> None:
    config.write_text(
        '[[handler]]\nid = "guard"\non = ["tool.pre"]\ncommand = ["./g"]\n'
        'env = { KEY = "s3cret" }\n'
        '[[sink]]\ntype = "jsonl"\npath = "/tmp/x"\n'
    )
    said = cli("config", "show")
    assert "guard" in said.out
    assert "jsonl" in said.out
    assert "s3cret" not in said.out
