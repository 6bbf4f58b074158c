"""Installs one exact version of an agent from npm, once for all test processes."""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
from pathlib import Path

import msgspec
import pytest

CHECKOUT = Path(__file__).parents[3]
# Taken before a test gets a home of its own: npm needs the user's registry, proxy and cache.
USERS_ENVIRONMENT = dict(os.environ)


class Package(msgspec.Struct, frozen=True):
    """An npm package, pinned; `command` is the program that it provides."""

    name: str
    version: str
    command: str

    @property
    def folder(self) -> Path:
        """Where it is installed: below $WATCHGATE_AGENTS_DIR, or `.agents` in the checkout."""
        root = Path(USERS_ENVIRONMENT.get("WATCHGATE_AGENTS_DIR") or CHECKOUT / ".agents")
        return root.resolve() / f"{self.command}-{self.version}"

    @property
    def programs(self) -> Path:
        """The directory that holds its command."""
        return self.folder / "node_modules" / ".bin"


def install(package: Package) -> Path:
    """The package's command, installed if need be; skips the test where npm is missing."""
    if missing := [tool for tool in ("node", "npm") if shutil.which(tool) is None]:
        pytest.skip(f"{' and '.join(missing)} not found: cannot run {package.name}")
    done = package.folder / ".installed"
    if not done.exists():
        package.folder.mkdir(parents=True, exist_ok=True)
        with (package.folder / ".lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not done.exists():
                _npm_install(package)
                done.touch()
    return package.programs / package.command


def _npm_install(package: Package) -> None:
    command = ["npm", "install", "--no-audit", "--no-fund", "--loglevel=error"]
    subprocess.run(
        [*command, "--prefix", str(package.folder), f"{package.name}@{package.version}"],
        check=True,
        stdout=subprocess.DEVNULL,
        env=USERS_ENVIRONMENT,
    )
