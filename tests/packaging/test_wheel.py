"""The wheel, installed into an empty environment, works with no checkout in sight."""

from __future__ import annotations

import fcntl
import subprocess
import sys
import tarfile
from collections.abc import Sequence
from pathlib import Path
from zipfile import ZipFile

import msgspec
import pytest

from watchgate import __version__

ROOT = Path(__file__).resolve().parents[2]
NAME = f"watchgate-{__version__}"


class Installed(msgspec.Struct, frozen=True):
    """The two archives, and the commands of the environment that the wheel went into."""

    sdist: Path
    wheel: Path
    bin: Path


def run(command: Sequence[str | Path], cwd: Path) -> str:
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def build_and_install(into: Path) -> None:
    """Checkout to sdist, sdist to wheel, wheel to environment: the way a release goes."""
    python: str | Path = sys.executable
    run([python, "-m", "hatchling", "build", "-t", "sdist", "-d", into], ROOT)
    run(["tar", "-xzf", into / f"{NAME}.tar.gz"], into)
    run([python, "-m", "hatchling", "build", "-t", "wheel", "-d", into], into / NAME)
    run([python, "-m", "venv", "--without-pip", into / "env"], into)
    wheel = into / f"{NAME}-py3-none-any.whl"
    pip = [python, "-m", "pip", "--python", into / "env" / "bin" / "python"]
    run([*pip, "install", "--quiet", "--disable-pip-version-check", wheel], into)


@pytest.fixture(scope="session")
def installed(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Installed:
    """Built once per run: the first worker builds, the others wait for it."""
    base = tmp_path_factory.getbasetemp()
    into = (base if worker_id == "master" else base.parent) / "wheel"
    into.mkdir(exist_ok=True)
    with (into / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (into / "ready").exists():
            build_and_install(into)
            (into / "ready").touch()
    return Installed(
        sdist=into / f"{NAME}.tar.gz",
        wheel=into / f"{NAME}-py3-none-any.whl",
        bin=into / "env" / "bin",
    )


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
    with tarfile.open(installed.sdist) as sdist:
        packed = {name.removeprefix(f"{NAME}/tui/") for name in sdist.getnames()}
    assert written != set()
    assert written <= packed
    assert written <= set(ZipFile(installed.wheel).namelist())


def test_the_sdist_can_be_tested(installed: Installed) -> None:
    with tarfile.open(installed.sdist) as sdist:
        top = {name.split("/")[1] for name in sdist.getnames()}
    assert {"tui", "tests", "styles", "Makefile", "uv.lock", "pyproject.toml"} <= top


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
        "from watchgate.ui.app import WatchgateApp as App; "
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
        assert all(check["status"] == "ok" for check in checks)
    finally:
        core.terminate()
        core.communicate()
