"""Agents on the command line, and the page that shows how to add one."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import pytest

from tests.cli.conftest import Cli
from watchgate.cli.base.printing import Exit
from watchgate.link.paths import paths

PAGE = (Path(__file__).parents[3] / "docs" / "adding-an-agent.md").read_text()


def part(language: str) -> str:
    """The page's one block of a language."""
    (found,) = re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)
    return str(found)


def agents_d(text: str, name: str = "nova") -> Path:
    """A file in the folder of a user's own agents."""
    folder = paths(os.environ).config.with_name("agents.d")
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    file = folder / f"{name}.toml"
    file.write_text(text)
    file.chmod(0o600)
    return file


@pytest.fixture
def nova() -> Path:
    return agents_d(part("toml"))


@pytest.fixture
def samples(tmp_path: Path) -> Path:
    file = tmp_path / "samples.jsonl"
    file.write_text(part("jsonl"))
    return file


def test_the_pages_table_reads_the_pages_samples(cli: Cli, nova: Path, samples: Path) -> None:
    said = cli("agent", "check", str(nova), str(samples))

    assert said.code == Exit.DONE
    assert "3 of 3 samples are as they should be" in said.out
    assert '{"verdict":"refuse","why":"No."}  exit 2' in said.out
    assert "Bash (run, shell)" in said.out


def test_the_same_as_json(cli: Cli, nova: Path, samples: Path) -> None:
    opened, before, after = cli("agent", "check", str(nova), str(samples), "--json").lines

    assert (opened["kind"], opened["session"], opened["cwd"]) == (
        "session.start",
        "c-1",
        "/srv/app",
    )
    assert before["modify"] == {"stdout": '{"verdict":"proceed","arguments":{"command":"make"}}'}
    assert before["handback"] == {}
    assert before["closed"] == before["deny"], "and both with the reason that samples are told"
    assert (after["kind"], after["ok"], "allow" in after) == ("tool.post", True, False)


def test_a_sample_that_is_not_as_expected_is_named_by_its_line(
    cli: Cli, nova: Path, samples: Path
) -> None:
    samples.write_text(part("jsonl").replace('"class":"shell"', '"class":"read"') + "{}\n[\n")

    said = cli("agent", "check", str(nova), str(samples))

    assert said.code == Exit.REFUSED
    assert 'DIFFERS: class is "shell", expected "read"' in said.out
    assert f"{samples}:4: the payload does not name its event (hook)" in said.out
    assert f"{samples}:5: no sample" in said.out
    assert "2 of 5" in said.out


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ('{"payload":{"hook":"x"},"expected":{"kinds":1}}', "nothing called kinds can be expected"),
        ('{"payload":{"hook":"x"},"lane":"gates"}', "Invalid enum value 'gates'"),
        ("7", "a sample is a JSON object"),
    ],
)
def test_a_bad_sample_says_what_is_allowed(
    cli: Cli, nova: Path, samples: Path, line: str, told: str
) -> None:
    samples.write_text(line)

    said = cli("agent", "check", str(nova), str(samples))

    assert (said.code, told in said.out) == (Exit.REFUSED, True)


def test_files_that_are_not_there_and_files_without_samples(
    cli: Cli, nova: Path, samples: Path, tmp_path: Path
) -> None:
    samples.write_text("\n")

    assert "no samples" in cli("agent", "check", str(nova), str(samples)).err
    assert "cannot be read" in cli("agent", "check", str(nova), str(tmp_path / "none")).err
    assert "cannot be read" in cli("agent", "check", str(tmp_path / "no.toml"), str(samples)).err
    assert "unknown agent 'hal'" in cli("agent", "check", "hal", str(samples)).err


def test_the_list_has_the_built_in_agents_and_ones_own(cli: Cli, nova: Path) -> None:
    rows = {row["agent"]: row for row in cli("agent", "ls", "--json").lines}

    assert {"claude", "codex", "synaps", "nova"} <= rows.keys()
    assert rows["nova"]["hooks"] == "~/.nova/hooks.json"
    assert rows["nova"]["waits"] == [
        {
            "event": "before_call",
            "lane": "gate",
            "matcher": None,
            "allow": True,
            "deny": True,
            "modify": True,
            "stop": False,
            "answer": False,
        }
    ]
    assert "before_call (gate)" in cli("agent", "ls").out


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (
            'name = "claude"\ntitle = "C"\n[events.a]\nkind = "notice"\n',
            "'claude' is that of a built",
        ),
        ('name = "x"\nspeed = 9\n', "nova.toml:2: unknown key speed"),
        ('name = "x"\ntitle = "X"\n[events.a]\nkind = "tool.pree"\n', "nova.toml:4: "),
        ("name = ", "nova.toml:1: not valid TOML"),
    ],
)
def test_a_bad_table_is_found_by_config_check_and_keeps_a_core_from_starting(
    cli: Cli, text: str, told: str
) -> None:
    agents_d(text)

    checked, served = cli("config", "check"), cli("serve")

    assert (checked.code, served.code) == (Exit.REFUSED, Exit.REFUSED)
    assert told in checked.err
    assert told in served.err


def test_a_table_that_others_may_write_is_refused(cli: Cli, nova: Path) -> None:
    nova.chmod(0o666)
    assert f"run `chmod go-w {nova}`" in cli("config", "check").err
    nova.chmod(0o600)
    nova.parent.chmod(0o777)
    assert f"run `chmod go-w {nova.parent}`" in cli("config", "check").err


def test_two_tables_of_one_name_are_refused(cli: Cli, nova: Path) -> None:
    agents_d(part("toml"), "other")

    said = cli("config", "check")

    assert (said.code, f"'nova' is taken by {nova}" in said.err) == (Exit.REFUSED, True)


def test_nova_is_installed_where_its_table_says(cli: Cli, nova: Path) -> None:
    home = Path(os.environ["HOME"])

    said = cli("install", "nova")

    assert said.code == Exit.DONE, said.err
    written = json.loads((home / ".nova" / "hooks.json").read_text())
    assert set(written["hooks"]) == {"before_call", "after_call", "chat_opened"}
    assert "refuse" in json.dumps(written["hooks"]["before_call"])
    assert cli("uninstall", "nova").code == Exit.DONE
    assert not (home / ".nova" / "hooks.json").exists()
