"""Installs one exact version of an agent from npm, once for all test processes."""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
import time
from pathlib import Path
from typing import Final

import pytest

from tests.agents_real.harness.packages import Package

CHECKOUT = Path(__file__).parents[3]
# Taken before a test gets a home of its own: npm needs the user's registry, proxy and cache.
USERS_ENVIRONMENT = dict(os.environ)
ATTEMPTS: Final = 3
PAUSE_S: Final = 5.0


def folder(package: Package) -> Path:
    """Where a package is installed: below $WATCHGATE_AGENTS_DIR, or `.agents` in the checkout."""
    root = Path(USERS_ENVIRONMENT.get("WATCHGATE_AGENTS_DIR") or CHECKOUT / ".agents")
    return root.resolve() / f"{package.command}-{package.version}"


def programs(package: Package) -> Path:
    """The directory that holds its command, and those of what is installed beside it."""
    return folder(package) / "node_modules" / ".bin"


def install(package: Package) -> Path:
    """The package's command, installed if need be; skips the test where npm is missing."""
    if missing := [tool for tool in ("node", "npm") if shutil.which(tool) is None]:
        pytest.skip(f"{' and '.join(missing)} not found: cannot run {package.name}")
    done = folder(package) / ".installed"
    if not done.exists():
        done.parent.mkdir(parents=True, exist_ok=True)
        with (done.parent / ".lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not done.exists():
                _npm_install(package)
                done.touch()
    return programs(package) / package.command


def _npm_install(package: Package) -> None:
    command = ["npm", "install", "--no-audit", "--no-fund", "--loglevel=error"]
    for attempt in range(1, ATTEMPTS + 1):
        done = subprocess.run(
            [*command, "--prefix", str(folder(package)), *package.specs],
            capture_output=True,
            text=True,
            check=False,
            env=USERS_ENVIRONMENT,
        )
        if done.returncode == 0:
            return
        if attempt < ATTEMPTS:
            time.sleep(PAUSE_S * attempt)
    raise RuntimeError(
        f"npm could not install {' '.join(package.specs)} in {ATTEMPTS} attempts:\n{done.stderr}"
    )
