"""One build for all who look at it: the sdist, the wheel, an environment with the wheel."""

from __future__ import annotations

import fcntl
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import msgspec
import pytest

from watchgate import __version__

ROOT = Path(__file__).resolve().parents[2]
NAME = f"watchgate-{__version__}"


class Installed(msgspec.Struct, frozen=True):
    """The archives, and the commands of the environment that the wheel went into."""

    sdist: Path
    wheel: Path
    from_checkout: Path
    bin: Path


def run(command: Sequence[str | Path], cwd: Path) -> str:
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def build_and_install(into: Path) -> None:
    """Checkout to sdist, sdist to wheel, wheel to environment: the way a release goes."""
    python: str | Path = sys.executable
    build = [python, "-m", "hatchling", "build"]
    run([*build, "-t", "sdist", "-d", into], ROOT)
    run([*build, "-t", "wheel", "-d", into / "from-checkout"], ROOT)
    run(["tar", "-xzf", into / f"{NAME}.tar.gz"], into)
    run([*build, "-t", "wheel", "-d", into], into / NAME)
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
    wheel = f"{NAME}-py3-none-any.whl"
    return Installed(
        sdist=into / f"{NAME}.tar.gz",
        wheel=into / wheel,
        from_checkout=into / "from-checkout" / wheel,
        bin=into / "env" / "bin",
    )
