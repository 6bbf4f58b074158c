"""A core that may not start says why in one line, on every Python that it runs on.

Python 3.11.0 to 3.11.3, of which Debian 12 has one, treat groups of errors in their own way.
"""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.programs import Core

OLD = [(3, 11, micro) for micro in range(4)]
CANDIDATES = ("/usr/bin/python3", "/usr/bin/python3.11", "/usr/local/bin/python3.11")


def old_python() -> str:
    """An interpreter of those versions that can load the packages of this one."""
    if sys.version_info[:2] != (3, 11):
        pytest.skip("the packages of this interpreter are not for Python 3.11")
    if sys.version_info[:3] in OLD:
        return sys.executable
    ask = "import sys; print(*sys.version_info[:3])"
    for python in filter(os.path.exists, CANDIDATES):
        said = subprocess.run([python, "-c", ask], capture_output=True, text=True, check=True)
        if tuple(map(int, said.stdout.split())) in OLD:
            return python
    pytest.skip("there is no Python 3.11.0 to 3.11.3 here: Debian 12 has one in python3")


@pytest.fixture(params=["this", "old"])
def python(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """The interpreter of the tests, and one of the old ones with the same packages."""
    if request.param == "this":
        return sys.executable
    found = old_python()
    source = Path(__file__).resolve().parents[2] / "tui"
    packages = os.pathsep.join([str(source), sysconfig.get_path("purelib")])
    monkeypatch.setenv("PYTHONPATH", packages)
    return found


@pytest.fixture
def served(python: str) -> Iterator[str]:
    """The interpreter, beside a core that runs."""
    core = Core()
    core.start()
    yield python
    core.end()


def refused(python: str) -> str:
    """What `serve` says as it refuses, which is one line."""
    done = subprocess.run(
        [python, "-m", "watchgate", "serve"], capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 1, done.stderr
    assert done.stdout == ""
    (line,) = done.stderr.splitlines()
    return line


def test_a_second_core_says_how_to_reach_the_first(served: str) -> None:
    line = refused(served)
    assert line.startswith("watchgate: a core is already running in ")
    assert line.endswith("attach to it with `watchgate`, or end it with `watchgate stop`")


def test_a_runtime_directory_of_others_is_told_with_its_mend(python: str) -> None:
    runtime = Path(os.environ["WATCHGATE_RUNTIME_DIR"])
    runtime.chmod(0o777)
    assert refused(python).endswith(
        f"{runtime} has mode 0777 where 0700 is needed: run `chmod 700 {runtime}`"
    )


def test_a_state_directory_that_cannot_be_made_is_told_with_its_mend(
    python: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("WATCHGATE_STATE_DIR", str(tmp_path / "file" / "state"))
    assert refused(python).endswith("set WATCHGATE_STATE_DIR to a directory of your own")


STARTS = "import os; from watchgate.link.paths import paths;"
STARTS += " from watchgate.service.system.detached_core import start_core;"
STARTS += " start_core(paths(os.environ))"
"""What each console does where no core answers yet."""


def test_consoles_that_start_at_once_find_one_another(python: str) -> None:
    try:
        starting = [
            subprocess.Popen([python, "-c", STARTS], stderr=subprocess.PIPE, text=True)
            for _ in range(4)
        ]
        assert [each.communicate(timeout=60)[1] for each in starting] == [""] * len(starting)
        assert [each.returncode for each in starting] == [0] * len(starting)
    finally:
        stopped = subprocess.run([python, "-m", "watchgate", "stop"], capture_output=True)
    assert stopped.returncode == 0
