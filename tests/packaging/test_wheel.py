"""The wheel, installed into an empty environment, works with no checkout in sight."""

from __future__ import annotations

import functools
import json
import os
import re
import shlex
import shutil
import subprocess
import tarfile
from email.parser import BytesParser
from pathlib import Path
from zipfile import ZipFile

import msgspec
import pytest

from tests.packaging.conftest import NAME, ROOT, Installed, run
from watchgate import __version__


def test_the_wheel_holds_the_package_and_nothing_beside_it(installed: Installed) -> None:
    names = ZipFile(installed.wheel).namelist()
    beside = {name for name in names if not name.startswith(("watchgate/", f"{NAME}.dist-info/"))}
    assert beside == {f"{NAME}.data/data/share/man/man1/watchgate.1"}
    assert {"watchgate/py.typed", f"{NAME}.dist-info/licenses/LICENSE"} <= set(names)


def test_the_wheel_holds_every_stylesheet(installed: Installed) -> None:
    shipped = {name for name in ZipFile(installed.wheel).namelist() if name.endswith(".tcss")}
    written = {f"watchgate/styles/{file.name}" for file in (ROOT / "styles").glob("*.tcss")}
    assert shipped == written != set()


def test_both_archives_hold_every_file_of_the_policy(installed: Installed) -> None:
    folder = "watchgate/core/policy/shipped"
    written = {f"{folder}/{file.name}" for file in (ROOT / "tui" / folder).glob("*.toml")}
    assert written != set()
    assert {f"tui/{name}" for name in written} <= packed(installed.sdist)
    assert written <= set(ZipFile(installed.wheel).namelist())


@functools.cache
def packed(sdist: Path) -> set[str]:
    """The files of an sdist, each under its place in the checkout."""
    with tarfile.open(sdist) as archive:
        return {name.removeprefix(f"{NAME}/") for name in archive.getnames()}


def contents(wheel: Path) -> dict[str, bytes]:
    with ZipFile(wheel) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def test_a_wheel_is_the_same_from_the_sdist_and_from_the_checkout(installed: Installed) -> None:
    ours, theirs = contents(installed.from_checkout), contents(installed.wheel)
    assert ours.keys() == theirs.keys()
    assert [name for name in ours if ours[name] != theirs[name]] == []


@pytest.mark.parametrize(
    "folder", "bench docs examples man native screenshots scripts styles tests tui".split()
)
def test_the_sdist_can_be_built_checked_and_tested(installed: Installed, folder: str) -> None:
    kept = ".1 .c .db .h .js .json .md .py .svg .tcss .toml .yml".split()
    there = {
        str(file.relative_to(ROOT))
        for file in (ROOT / folder).rglob("*")
        if file.suffix in kept and not re.search(r"/(out/|\.)", str(file.relative_to(ROOT)))
    }
    assert there != set()
    assert there - packed(installed.sdist) == set()


def test_the_sdist_has_the_files_that_stand_at_the_top(installed: Installed) -> None:
    top = "AGENTS.md CHANGELOG.md CONTRIBUTING.md LICENSE Makefile README.md hatch_build.py"
    assert {*top.split(), "pyproject.toml", "uv.lock"} <= packed(installed.sdist)


def test_the_front_page_of_the_package_is_the_readme(installed: Installed) -> None:
    with ZipFile(installed.wheel) as archive:
        told = BytesParser().parsebytes(archive.read(f"{NAME}.dist-info/METADATA"))
    page = (ROOT / "README.md").read_text(encoding="utf-8")
    assert told["Description-Content-Type"] == "text/markdown"
    assert str(told.get_payload()).strip() == page.strip()
    assert "Typing :: Typed" in (told.get_all("Classifier") or [])


def test_what_the_readme_shows_and_links_is_in_the_sdist(installed: Installed) -> None:
    page = (ROOT / "README.md").read_text(encoding="utf-8")
    places = re.findall(r"\]\((?!https?:|#)([^)#\s]+)", page)
    assert places != []
    assert set(places) - packed(installed.sdist) == set()


def test_the_installed_package_is_not_the_checkout(installed: Installed, tmp_path: Path) -> None:
    where = "import watchgate; print(watchgate.__file__)"
    printed = run([installed.bin / "python", "-I", "-c", where], tmp_path)
    assert Path(printed.strip()).is_relative_to(installed.bin.parent)


@pytest.mark.parametrize("command", ["watchgate", "wgate"])
def test_both_commands_say_their_version(
    installed: Installed, tmp_path: Path, command: str
) -> None:
    assert __version__ in run([installed.bin / command, "--version"], tmp_path)


def test_the_manual_is_where_man_looks_for_it(installed: Installed) -> None:
    page = installed.bin.parent / "share" / "man" / "man1" / "watchgate.1"
    assert page.read_bytes() == (ROOT / "man" / "watchgate.1").read_bytes()


def test_the_installed_command_says_where_things_are(installed: Installed, tmp_path: Path) -> None:
    printed = run([installed.bin / "watchgate", "config", "path"], tmp_path)
    assert str(tmp_path / "config" / "watchgate" / "config.toml") in printed


def test_the_module_is_the_command(installed: Installed, tmp_path: Path) -> None:
    printed = run([installed.bin / "python", "-I", "-m", "watchgate", "--version"], tmp_path)
    assert __version__ in printed


def test_the_installed_console_finds_its_stylesheets(installed: Installed, tmp_path: Path) -> None:
    where = (
        "from watchgate.ui.console.app import WatchgateApp as App; "
        "print(*(path for path in App.CSS_PATH if path.is_file()), sep='\\n')"
    )
    found = run([installed.bin / "python", "-I", "-c", where], tmp_path).split()
    assert {Path(path).name for path in found} == {file.name for file in ROOT.glob("styles/*.tcss")}
    assert all(Path(path).is_relative_to(installed.bin.parent) for path in found)


@pytest.mark.parametrize(
    ("command", "decision", "rule"),
    [("git push --force", "ask", "git.force-push"), ("ls -la", "allow", "allow.read-text")],
)
def test_the_installed_policy_judges_and_reads_commands(
    installed: Installed, tmp_path: Path, command: str, decision: str, rule: str
) -> None:
    said = msgspec.json.decode(
        run([installed.bin / "watchgate", "policy", "check", "--json", command], tmp_path)
    )
    assert said["decision"] == decision
    assert said["findings"][0]["rule"] == rule


def test_doctor_works_outside_the_checkout(installed: Installed, tmp_path: Path) -> None:
    printed = run([installed.bin / "watchgate", "doctor", "--json"], tmp_path)
    checks = [msgspec.json.decode(line) for line in printed.splitlines()]
    assert {"runtime directory", "core", "interpreter", "shell parser"} <= {
        check["check"] for check in checks
    }
    assert all(check["status"] != "fail" for check in checks)


def test_an_installed_core_serves_and_its_hooks_are_gated(
    installed: Installed, tmp_path: Path
) -> None:
    command = installed.bin / "watchgate"
    core = subprocess.Popen([command, "serve"], cwd=tmp_path, stdout=subprocess.PIPE)
    try:
        assert core.stdout is not None
        assert msgspec.json.decode(core.stdout.readline())["ready"] is True
        run([command, "install", "claude"], tmp_path)
        printed = run([command, "doctor", "claude", "--json"], tmp_path)
        checks = [msgspec.json.decode(line) for line in printed.splitlines()]
        assert {check["check"] for check in checks} >= {"core", "claude: gate answers"}
        # A PIN is the operator's choice: `doctor` says that none is set.
        assert [each["check"] for each in checks if each["status"] != "ok"] == ["PIN"]
    finally:
        core.terminate()
        core.communicate()


def test_when_the_environment_is_gone_a_denial_names_the_way_out_and_it_works(
    installed: Installed, tmp_path: Path, short_path: Path
) -> None:
    # Its core's socket lies below the home, in a path of at most 107 bytes.
    env, home = tmp_path / "env", short_path / "home"
    run(["cp", "-a", installed.bin.parent, env], tmp_path)
    variables = {"HOME": str(home), "PATH": os.environ["PATH"]}
    python, words = env / "bin" / "python", ["-m", "watchgate", "install", "claude"]
    done = subprocess.run([python, *words], env=variables, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    settings = json.loads((home / ".claude" / "settings.json").read_text())
    hook = settings["hooks"]["PreToolUse"][0]["hooks"][0]["command"]
    shutil.rmtree(env)

    denied = subprocess.run(
        ["/bin/sh", "-c", hook], env=variables, input=b"{}", capture_output=True
    )
    assert denied.returncode == 2
    found = re.search(r"Take its hooks out: (python3 '.*/uninstall\.py')\.", denied.stderr.decode())
    assert found is not None, denied.stderr
    reason = json.loads(denied.stdout)["hookSpecificOutput"]["permissionDecisionReason"]
    assert found.group(1) in reason

    taken = subprocess.run(shlex.split(found.group(1)), env=variables, capture_output=True)
    assert (taken.returncode, taken.stderr) == (0, b"")
    assert [path.name for path in home.rglob("*")] == []
