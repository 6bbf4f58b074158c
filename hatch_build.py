"""Compiles the native hook client into the wheel, where WATCHGATE_NATIVE=1 asks for it."""

from __future__ import annotations

import atexit
import os
import shlex
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from packaging.tags import platform_tags  # hatchling needs it itself

FLAGS = ("-std=c99", "-O2", "-Wall", "-Wextra", "-Werror", "-pedantic")
PLACE = "watchgate/hook-client"


class NativeClient(BuildHookInterface[Any]):
    """A wheel for this platform alone, with the client in it; the plain wheel stays pure."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compile it and say where it goes; an editable installation goes without."""
        if os.environ.get("WATCHGATE_NATIVE") != "1" or version == "editable":
            return
        folder = Path(tempfile.mkdtemp())
        atexit.register(shutil.rmtree, folder)
        client = folder / "hook-client"
        compile_client(Path(self.root), client)
        build_data["force_include"][str(client)] = PLACE
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{this_platform()}"


def this_platform() -> str:
    """What the compiler makes programs for, as a wheel's name says it.

    Not `sysconfig.get_platform`: that is macOS on both processors where the interpreter is, and the
    kernel's processor where a 32-bit interpreter runs on a 64-bit one. No promise about the C
    library is made: that needs a tool which looks for it.
    """
    promises = ("manylinux", "musllinux")
    return next(each for each in platform_tags() if not each.startswith(promises))


def compile_client(root: Path, into: Path) -> None:
    """Compile the client of this source tree with $CC, else cc; leaves with a word on failure."""
    compiler = os.environ.get("CC") or "cc"
    sources = sorted(str(each) for each in (root / "native").glob("*.c"))
    words = [*shlex.split(compiler), *FLAGS, "-o", str(into), *sources]
    try:
        done = subprocess.run(words, capture_output=True, text=True, check=False)
    except OSError as fault:
        raise SystemExit(
            f"WATCHGATE_NATIVE=1 needs a C compiler, and {compiler} cannot be run "
            f"({fault.strerror}): install one, name it in CC, or build without WATCHGATE_NATIVE"
        ) from None
    if done.returncode:
        raise SystemExit(f"{compiler} cannot compile native/*.c:\n{done.stderr}")
