"""The hooks of a program that is gone are taken out by what lies beside the client."""

from __future__ import annotations

import ast
import json
import os
import shutil
import stat
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.agents.payloads import INSTALLABLE
from tests.client.fake_core import PATIENCE_S, PYTHON
from tests.service.setup.forms.cases import texts
from watchgate import client_uninstall
from watchgate.agents.registry import ADAPTERS
from watchgate.cli import main
from watchgate.link.paths import Paths, paths
from watchgate.service.setup.agent_files import hook_path, is_folder, setup_of

EDITED = [name for name in INSTALLABLE if not is_folder(setup_of(ADAPTERS[name]))]
CASES = [
    pytest.param(name, text, id=f"{name}: {what}")
    for name in EDITED
    for what, text in {"empty": "", **texts(setup_of(ADAPTERS[name]))}.items()
]
TEXTS = texts(setup_of(ADAPTERS["claude"]))
OURS = """
[[hooks]]
event = "PreToolUse"
command = "/bin/sh -c 'exit 0' watchgate-hook gate"
timeout = 600
"""
Snapshot = dict[str, tuple[str, bytes]]


@pytest.fixture(autouse=True)
def no_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in INSTALLABLE:
        monkeypatch.delenv(setup_of(ADAPTERS[name]).variable or "NONE", raising=False)


@pytest.fixture
def places() -> Paths:
    return paths(os.environ)


def snapshot(root: Path) -> Snapshot:
    return {
        str(path): (
            stat.filemode(path.lstat().st_mode),
            path.read_bytes() if path.is_file() else b"",
        )
        for path in root.rglob("*")
    }


def user_file(name: str, text: str | None = None) -> Path:
    """Where an agent keeps its hooks; with a text, that stands there."""
    path = hook_path(ADAPTERS[name], "user", os.environ, Path("/"))
    if text is not None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, newline="")
    return path


def install(*names: str) -> None:
    """Installs, and has the program vanish."""
    assert main(["install", *names]) == 0
    program = paths(os.environ).program
    program.unlink()
    program.symlink_to("/nowhere/bin/watchgate")


def uninstall(places: Paths, *words: str) -> subprocess.CompletedProcess[str]:
    """Runs it as the denial says, with nothing else in the environment."""
    command = [PYTHON, str(places.uninstaller), *words]
    return subprocess.run(command, env={}, capture_output=True, text=True, timeout=PATIENCE_S)


def assert_done(done: subprocess.CompletedProcess[str]) -> None:
    assert (done.returncode, done.stderr) == (0, ""), done.stdout


@pytest.mark.parametrize("name", INSTALLABLE)
def test_where_there_was_nothing_there_is_nothing_again(
    places: Paths, tmp_path: Path, name: str
) -> None:
    before = snapshot(tmp_path)
    install(name)
    assert_done(uninstall(places))
    assert snapshot(tmp_path) == before


@pytest.mark.parametrize(("name", "text"), CASES)
def test_a_file_that_nobody_touched_gets_its_old_bytes(
    places: Paths, tmp_path: Path, name: str, text: str
) -> None:
    user_file(name, text)
    before = snapshot(tmp_path)
    install(name)
    assert_done(uninstall(places))
    assert snapshot(tmp_path) == before


@pytest.mark.parametrize("name", EDITED)
def test_of_a_file_that_its_agent_wrote_anew_only_our_entries_go(places: Paths, name: str) -> None:
    original = texts(setup_of(ADAPTERS[name]))["hooks of others"]
    path = user_file(name, original)
    install(name)
    if path.suffix == ".toml":
        path.write_text(f"{path.read_text()}\n# Mine.\n[later]\na = 1\n")
        wanted = f"{original}\n# Mine.\n[later]\na = 1\n"
    else:
        path.write_text(json.dumps(json.loads(path.read_text()) | {"later": "é"}, indent=2))
        wanted = json.dumps(json.loads(original) | {"later": "é"}, indent=2)
    assert_done(uninstall(places))
    assert path.read_text() == wanted
    assert not places.data_dir.exists()


def test_a_link_and_a_mode_stay(places: Paths, tmp_path: Path) -> None:
    real, path = tmp_path / "dotfiles.json", user_file("claude")
    real.write_text("{}\n")
    real.chmod(0o640)
    path.parent.mkdir()
    path.symlink_to(real)
    install("claude")
    real.write_text(real.read_text() + "\n")
    assert_done(uninstall(places))
    assert (path.is_symlink(), real.read_text()) == (True, "{}\n\n")
    assert stat.S_IMODE(real.stat().st_mode) == 0o640


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (lambda text: f"// mine\n{text}", "it is no plain JSON"),
        (lambda text: text.replace("{", '{"a": 1, "a": 2,', 1), "it has a key twice"),
    ],
)
def test_what_takes_a_person_is_named_with_its_lines_and_the_rest_is_done(
    places: Paths, change: object, why: str
) -> None:
    install("gemini", "claude")
    path, other = user_file("gemini"), user_file("claude")
    assert callable(change)
    path.write_text(change(path.read_text()))
    text = path.read_text()
    done = uninstall(places)
    assert done.returncode == 1
    first = next(at for at, line in enumerate(text.splitlines(), 1) if "watchgate-hook" in line)
    assert f"{path}: take the hooks out by hand, in line {first}, " in done.stdout
    assert why in done.stdout
    assert (path.read_text(), other.exists()) == (text, False)
    assert places.client.exists(), "a hook without it denies every call"
    path.write_text("{}\n")
    assert_done(uninstall(places))
    assert not places.data_dir.exists()


def test_nothing_is_done_while_the_program_is_there(places: Paths, tmp_path: Path) -> None:
    assert main(["install", "claude"]) == 0
    before = snapshot(tmp_path)
    done = uninstall(places)
    assert (done.returncode, "run watchgate uninstall --all" in done.stdout) == (1, True)
    assert snapshot(tmp_path) == before


def test_a_dry_run_changes_nothing(places: Paths, tmp_path: Path) -> None:
    install("claude", "opencode")
    before = snapshot(tmp_path)
    done = uninstall(places, "--dry-run")
    assert_done(done)
    assert f"{user_file('claude')}: would be removed" in done.stdout
    assert "would be gone" in done.stdout.splitlines()[-1]
    assert snapshot(tmp_path) == before


@pytest.mark.parametrize("what", sorted(TEXTS.keys() - {"an empty event"}))
def test_however_a_file_is_laid_out_only_our_entries_are_cut(places: Paths, what: str) -> None:
    path = user_file("claude", TEXTS[what])
    install("claude")
    path.write_text(f"{path.read_bytes().decode()} \n", newline="")
    assert_done(uninstall(places))
    assert path.read_bytes().decode() == f"{TEXTS[what]} \n"


@pytest.mark.parametrize(
    "others",
    [
        '"\\ud800"',
        "1e400",
        "1.50",
        '"\\u00e9 \\/"',
        "[ ]",
        '{"hooks": [], "a" :\n[1,2 ]}',
        "-Infinity",
    ],
)
@pytest.mark.parametrize("at_the_end", [False, True])
def test_what_others_wrote_stays_byte_for_byte(
    places: Paths, others: str, *, at_the_end: bool
) -> None:
    install("claude")
    path = user_file("claude")
    text = path.read_text().rstrip()
    rest = f'{{\n  "mine": {others}\n}}'
    if at_the_end:
        path.write_text(f'{text[:-1].rstrip()},\n  "mine": {others}\n}}')
    else:
        path.write_text(f'{{\n  "mine": {others},{text[1:]}')
    assert_done(uninstall(places))
    assert path.read_text() == rest


@pytest.mark.parametrize(
    "changed",
    [
        lambda command: f"timeout 9 {command}",
        lambda command: command.replace("/bin/sh", "/usr/bin/bash"),
        lambda _: "python3 ~/.local/share/watchgate/client.py",
    ],
)
def test_a_hook_that_was_changed_by_hand_is_named_and_keeps_the_client(
    places: Paths, changed: Callable[[str], str]
) -> None:
    install("claude", "gemini")
    path = user_file("claude")
    settings = json.loads(path.read_text())
    [hook] = settings["hooks"]["PreToolUse"][0]["hooks"]
    hook["command"] = changed(hook["command"])
    path.write_text(json.dumps(settings, indent=2))
    for words in (("--dry-run",), (), ()):
        done = uninstall(places, *words)
        assert (done.returncode, done.stderr) == (1, "")
        assert f"{path}: take out by hand what still runs the hook client" in done.stdout
        assert "The hook client stays" in done.stdout
        assert places.client.exists()
    lines = path.read_text().splitlines()
    [line] = [at for at, each in enumerate(lines, 1) if "watchgate/client.py" in each]
    assert f"in line {line}\n" in done.stdout
    assert json.loads(path.read_text())["hooks"] == {
        "PreToolUse": settings["hooks"]["PreToolUse"][:1]
    }
    path.write_text("{}\n")
    assert_done(uninstall(places))
    assert not places.data_dir.exists()


@pytest.mark.parametrize(
    ("before", "behind"),
    [
        ("", '[[hooks]]\nevent = "Stop"\ncommand = "logs watchgate-hook all"\n'),
        ('[[hooks]]\nevent = "Stop"\ncommand = "timeout 9 /bin/sh -c x watchgate-hook y"\n', ""),
        (f'example = """{OURS}"""\n', ""),
        ("a = 1\n", "  [b]\n  c = 1\n"),
        ("", "  # of b\n[b]\n"),
        ("", " \n\t# of b, too\n\n  [[b]]\n"),
        ("", "# the end"),
    ],
)
def test_of_toml_only_whole_tables_of_ours_are_cut(places: Paths, before: str, behind: str) -> None:
    install("kimi")
    path = user_file("kimi")
    path.write_text(f"{before}\n{path.read_text()}{behind}")
    uninstall(places)
    assert path.read_text() == f"{before}{behind}"


@pytest.mark.parametrize(
    "more", ["args = [\n[1],\n]\n", "# mine\nargs = 1\n", '\na = """\n[b]"""\n']
)
def test_a_table_of_ours_to_which_somebody_added_is_named_and_stays(
    places: Paths, more: str
) -> None:
    install("kimi")
    path = user_file("kimi")
    path.write_text(f"{OURS}{more}")
    done = uninstall(places)
    assert (done.returncode, path.read_text()) == (1, f"{OURS}{more}")
    assert f"{path}: take out by hand what still runs the hook client" in done.stdout
    assert places.client.exists()


@pytest.mark.parametrize("touched", [False, True])
def test_without_the_old_bytes_our_entries_are_cut(places: Paths, *, touched: bool) -> None:
    path = user_file("claude", '{"a": 1.50}\n')
    install("claude")
    for old in places.backups.glob("*.before"):
        old.unlink()
    if touched:
        path.write_text(path.read_text() + "\n")
    assert_done(uninstall(places))
    assert json.loads(path.read_text()) == {"a": 1.5}
    assert not places.data_dir.exists()


@pytest.mark.parametrize(
    "damage", ["{", "[]", '{"entries": 5}', '{"entries": [5, {"part": "hooks"}]}', "[" * 100_000]
)
def test_a_damaged_list_keeps_nobody_from_leaving(
    places: Paths, tmp_path: Path, damage: str
) -> None:
    before = snapshot(tmp_path)
    install("claude")
    places.installed.write_text(damage)
    assert_done(uninstall(places))
    assert snapshot(tmp_path) == before


def test_links_that_lead_in_a_circle_keep_nobody_from_leaving(places: Paths) -> None:
    install("claude", "gemini")
    path = user_file("claude")
    path.unlink()
    path.symlink_to(path.name)
    assert_done(uninstall(places))
    assert (user_file("gemini").exists(), path.is_symlink()) == (False, True)


def test_a_reader_that_left_keeps_nobody_from_leaving(places: Paths, tmp_path: Path) -> None:
    before = snapshot(tmp_path)
    install("claude", "gemini")
    reader, writer = os.pipe()
    os.close(reader)
    command = [PYTHON, str(places.uninstaller)]
    done = subprocess.run(command, env={}, stdout=writer, stderr=subprocess.PIPE, check=False)
    os.close(writer)
    assert (done.returncode, done.stderr) == (0, b"")
    assert snapshot(tmp_path) == before


@pytest.mark.parametrize("lost", ["installed.json", "backups"])
def test_the_list_and_the_backups_stand_in_for_each_other(places: Paths, lost: str) -> None:
    user_file("claude", '{"a": 1}\n')
    install("claude")
    path = places.data_dir / lost
    path.unlink() if path.is_file() else shutil.rmtree(path)
    assert_done(uninstall(places))
    assert json.loads(user_file("claude").read_text()) == {"a": 1}


def test_it_is_written_for_python_3_8() -> None:
    text = Path(client_uninstall.__file__).read_text()
    ast.parse(text, feature_version=(3, 8))
