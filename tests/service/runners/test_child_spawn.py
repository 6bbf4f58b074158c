"""A child that does not start: never silent, and the words say how to mend it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from tests.service.runners.hooks import marked, script
from watchgate.service.runners.child import run_child
from watchgate.service.runners.spawn import ChildSpec


def why(**spec: Any) -> str:
    before = sorted(os.listdir("/dev/fd"))  # noqa: PTH208 - its own descriptor is in both lists
    end = run_child(ChildSpec(**{"env": marked(), "stdin": b"{}", **spec}), 60)
    assert sorted(os.listdir("/dev/fd")) == before  # noqa: PTH208 - as above
    assert (end.why, end.exit_code, end.stdout_size) == ("spawn", None, 0)
    return end.detail


@pytest.mark.parametrize("name", ["no-such-program-here", "./missing.sh", "/missing/hook"])
def test_a_missing_program(tmp_path: Path, name: str) -> None:
    assert why(argv=(name,), cwd=str(tmp_path)) == (
        f"{name}: no such program, or the one that its first line names is missing"
    )


def test_a_missing_interpreter(tmp_path: Path) -> None:
    path = Path(script(tmp_path, ""))
    path.write_text("#!/no/such/interpreter\n")
    assert "the one that its first line names" in why(argv=(str(path),), cwd=str(tmp_path))


def test_a_script_that_is_not_executable(tmp_path: Path) -> None:
    path = Path(script(tmp_path, ""))
    path.chmod(0o600)
    assert why(argv=("./hook.sh",), cwd=str(tmp_path)) == (
        "./hook.sh: not executable; `chmod +x` it"
    )


def test_a_script_without_its_first_line(tmp_path: Path) -> None:
    path = Path(script(tmp_path, ""))
    path.write_text("exit 0\n")
    assert "begin a script with `#!`" in why(argv=("./hook.sh",), cwd=str(tmp_path))


@pytest.mark.parametrize("names_it", [True, False])
def test_cx_b2_sa_b8_a_missing_folder_is_a_failure_with_a_reason(
    tmp_path: Path, *, names_it: bool
) -> None:
    gone = str(tmp_path / "gone") if names_it else ""
    text = why(argv=("true",), cwd=gone)
    assert text.endswith("set `cwd` of this handler")
    assert (f"cannot enter {gone}: no such file" in text) is names_it


def test_a_folder_that_is_a_file(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    assert "not a directory" in why(argv=("true",), cwd=str(tmp_path / "file"))


def test_a_relative_folder_is_not_looked_for_in_the_cores_own(tmp_path: Path) -> None:
    assert "src is no absolute path" in why(argv=("true",), cwd="src")


def test_too_much_to_pass_on(tmp_path: Path) -> None:
    env = {**marked(), "HUGE": "x" * (1 << 20)}
    assert "too long together" in why(argv=("true",), cwd=str(tmp_path), env=env)


@pytest.mark.parametrize(
    ("argv", "env"),
    [(("true", "a\0b"), {}), (("true",), {"A": "b\0c"}), (("true",), {"A=B": "c"})],
    ids=["NUL in an argument", "NUL in a variable", "= in a name"],
)
def test_what_no_process_can_be_given(
    tmp_path: Path, argv: tuple[str, ...], env: dict[str, str]
) -> None:
    assert "check `command` and `env`" in why(argv=argv, cwd=str(tmp_path), env={**marked(), **env})


def test_no_command_at_all(tmp_path: Path) -> None:
    assert "name the program to run" in why(argv=(), cwd=str(tmp_path))
