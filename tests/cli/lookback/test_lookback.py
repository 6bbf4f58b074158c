"""`watchgate lookback` as a person and a script see it."""

from __future__ import annotations

import os
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.conftest import Cli
from tests.cli.policy_files import NO_PUSH, own_policy
from tests.service.usage import disk
from watchgate.cli.base.printing import Exit
from watchgate.cli.lookback import show_lookback
from watchgate.core.lookback.lookback_report import LookbackReport
from watchgate.core.lookback.transcript_call import TranscriptCall
from watchgate.service.usage.transcript_files import TranscriptFile
from watchgate.service.usage.transcript_look import TranscriptLook
from watchgate.ui.base.theme import LIGHT


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home folder with a session of every agent, on the day of their calls."""
    folder = tmp_path / "home"
    monkeypatch.setenv("HOME", str(folder))
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "XDG_DATA_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("watchgate.cli.lookback.now_us", lambda: disk.NOON_US + disk.DAY_US // 2)
    disk.every_agent(folder)
    return folder


def files(*folders: Path) -> dict[str, tuple[int, bytes]]:
    return {
        str(path): (path.lstat().st_mtime_ns, path.read_bytes() if path.is_file() else b"")
        for folder in folders
        for path in sorted(folder.rglob("*"))
    }


def test_the_page_tells_the_numbers_the_gravest_and_what_to_do(cli: Cli, home: Path) -> None:
    said = cli("lookback")
    assert (said.code, said.err) == (Exit.DONE, "")
    page = said.out
    assert "Your agents asked for 7 tool calls in 5 sessions on 1 day." in page
    assert "critical" in page
    assert "rm -rf /" in page
    assert "guard      would have held" in page
    assert "Judged by the shipped policy." in page
    assert page.rstrip().endswith("watchgate demo  shows how")
    assert max(map(len, page.splitlines())) <= 80
    assert "\x1b" not in page


def test_the_last_lines_say_what_gates_the_next_call_on_this_machine(cli: Cli, home: Path) -> None:
    before = cli("lookback").out.splitlines()[-2:]
    cli("install", "claude", "codex")
    after = cli("lookback").out.splitlines()[-2:]

    assert before[0].startswith(" next       watchgate install claude codex")
    assert before[1].strip() == "watchgate demo  shows how"
    assert after[0].startswith(" next       start codex once and say yes to its hooks")
    assert "install claude" not in " ".join(after)


def test_where_every_agent_has_its_hooks_the_console_is_what_comes_next(
    cli: Cli, home: Path
) -> None:
    agents = [row["agent"] for row in cli("agent", "ls", "--json").lines if row["found"]]
    cli("install", *[each for each in agents if each != "codex"])
    (home / ".codex").rename(home / "codex-elsewhere")

    last = cli("lookback").out.splitlines()[-1]

    assert "watchgate  shows the next one: hooks are in for claude" in last
    assert "install" not in last


def test_nothing_is_written_anywhere(cli: Cli, home: Path, tmp_path: Path) -> None:
    places = (tmp_path, Path(os.environ["WATCHGATE_STATE_DIR"]).parent)
    before = files(*places)
    cli("lookback")
    cli("lookback", "--json")
    assert files(*places) == before


def test_neither_a_secret_nor_the_home_folder_is_shown(
    cli: Cli, home: Path, tmp_path: Path
) -> None:
    picture = tmp_path / "x.svg"
    shown = cli("lookback", "--all", "--svg", str(picture)).out + cli("lookback", "--json").out
    for text in (shown, picture.read_text()):
        assert disk.SECRET not in text
        assert str(home) not in text
        assert "cat ~/.ssh/id_ed25519" in text


def test_lines_for_a_script(cli: Cli, home: Path) -> None:
    summary, *calls = cli("lookback", "--json").lines
    assert (summary["kind"], summary["calls"], summary["sessions"]) == ("summary", 7, 5)
    assert summary["grave"] == sum(call["count"] for call in calls)
    assert summary["risks"]["critical"] >= 1
    assert calls[0]["kind"] == "call"
    assert (calls[0]["risk"], calls[0]["guard"]) == ("critical", "hold")
    assert calls[0]["reason"]


def test_private_shows_numbers_alone(cli: Cli, home: Path, tmp_path: Path) -> None:
    picture = tmp_path / "x.svg"
    page = cli("lookback", "--private", "--svg", str(picture)).out
    assert len(cli("lookback", "--private", "--json").lines) == 1
    for text in (page, picture.read_text()):
        assert "rm -rf" not in text
        assert "/srv/app" not in text
        assert "critical" in text


def test_the_picture_is_an_svg_that_is_never_written_over(
    cli: Cli, home: Path, tmp_path: Path
) -> None:
    picture = tmp_path / "x.svg"
    picture.write_text("mine")
    said = cli("lookback", "--svg", str(picture))
    assert (said.code, said.out) == (Exit.REFUSED, "")
    assert "--force" in said.err
    assert picture.read_text() == "mine"
    assert cli("lookback", "--svg", str(picture), "--force").code == Exit.DONE
    drawn = picture.read_text()
    assert ET.fromstring(drawn).tag.endswith("svg")
    assert not [word for word in ("href", "url(", "@import", "<script") if word in drawn]


def test_whose_policy_it_was_is_said(cli: Cli, home: Path) -> None:
    own_policy(NO_PUSH)
    page = cli("lookback").out
    assert "the shipped policy and " in page
    assert "policy.toml" in page
    assert "and denied 1" in page


def test_where_nothing_is_found_it_says_where_it_looked(
    cli: Cli, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CODEX_HOME", "/nowhere")
    monkeypatch.setattr("watchgate.cli.lookback.now_us", lambda: disk.NOON_US + 90 * disk.DAY_US)
    said = cli("lookback", "--days", "7")
    assert (said.code, said.out) == (Exit.REFUSED, "")
    assert "looked in ~/.claude/projects for claude" in said.err
    assert "looked in /nowhere/sessions for codex  (not there)" in said.err
    assert "--days 365" in said.err


@pytest.mark.parametrize("days", ["0", "-1", "x", "1e3", "99999"])
def test_a_wrong_number_of_days_is_an_error_of_usage(cli: Cli, days: str) -> None:
    said = cli("lookback", "--days", days)
    assert said.code == Exit.USAGE
    assert "a number of days from 1 to" in said.err


def test_ctrl_c_shows_what_was_found_so_far(
    cli: Cli, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = TranscriptLook._calls

    def stop(look: TranscriptLook, file: TranscriptFile) -> Iterator[list[TranscriptCall]]:
        if look.read == 3:
            raise KeyboardInterrupt
        return whole(look, file)

    monkeypatch.setattr(TranscriptLook, "_calls", stop)
    said = cli("lookback")
    assert said.code == Exit.DONE
    assert "Stopped after 3 of 6 files, the newest first." in said.out


def test_what_cannot_be_read_is_counted(cli: Cli, home: Path) -> None:
    path = home / ".claude/projects/-srv-app/torn.jsonl"
    disk.write(path, disk.claude_line("ls"), end='\n{"type"')
    assert "Unreadable and not counted: 1 line." in cli("lookback").out


def test_a_terminal_without_utf_8_gets_ascii(
    cli: Cli, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LC_ALL", "C")
    path = home / ".claude/projects/-srv-app/words.jsonl"
    disk.write(path, disk.claude_line("rm -rf / # größe \x1b[31m"))
    page = cli("lookback").out
    assert page.isascii()
    assert "####" in page


def test_a_command_cannot_speak_to_the_terminal(cli: Cli, home: Path) -> None:
    path = home / ".claude/projects/-srv-app/words.jsonl"
    disk.write(path, disk.claude_line("rm -rf / \x1b]0;x\x07\u202e", cwd="/srv/\x1b[2J"))
    page = cli("lookback", "--all").out
    assert not set("\x1b\x07\u202e") & set(page)
    assert "<U+001B>" in page


@pytest.mark.parametrize("rows", [24, 30, 40, 50])
@pytest.mark.parametrize("columns", [60, 80, 120, 200])
def test_the_page_fits_the_terminal(
    cli: Cli, home: Path, monkeypatch: pytest.MonkeyPatch, columns: int, rows: int
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    monkeypatch.setenv("LINES", str(rows))
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    for n in range(30):
        line = disk.claude_line(f"rm -rf /x{n}" + " y" * 90, f"toolu_{n:020d}")
        disk.write(home / f".claude/projects/-srv-app/{n}.jsonl", line)
    monkeypatch.setenv("NO_COLOR", "1")
    lines = cli("lookback").out.splitlines()
    assert max(map(len, lines)) <= min(columns, 120)
    assert len(lines) < rows, "the prompt below it"


def test_no_number_of_the_head_is_cut_off(
    cli: Cli, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    for n in range(1200):
        command = "rm -rf /" if n < 2 else "git push --force origin main" if n < 30 else "ls"
        line = disk.claude_line(command, f"toolu_{n:020d}", sessionId=f"s{n % 300}")
        disk.write(home / f".claude/projects/-srv-app/{n % 300}-{n}.jsonl", line)
    head = cli("lookback").out.partition("\n critical ")[0]
    assert "1,207 tool calls" in head
    assert "on 1 day." in head
    assert " critical and " in head
    assert " high.\n" in head
    assert max(map(len, head.splitlines())) <= 60


def test_a_home_in_the_root_is_not_taken_out_of_every_path(home: Path) -> None:
    report = LookbackReport(since_us=0, now_us=0)
    assert show_lookback.homeless(report, "/") is report


def test_the_picture_has_the_theme_of_the_console(cli: Cli, home: Path, tmp_path: Path) -> None:
    config = Path(os.environ["WATCHGATE_CONFIG"])
    config.parent.mkdir(parents=True, exist_ok=True)
    config.write_text('[ui]\ntheme = "textual-light"\n')
    cli("lookback", "--svg", str(tmp_path / "x.svg"))
    assert LIGHT.colors["bg"] in (tmp_path / "x.svg").read_text()
