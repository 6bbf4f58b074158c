"""The stable copy of the hook client: a launcher, the client that it runs, and its bytecode.

With them lies what takes all hooks out, and a link by which the client sees that the program which
installed it is gone.

- Finds the interpreter that installed hooks run: one that outlives any tool environment.
- The native hook client, which some wheels carry: used only where it proves itself.
"""

from __future__ import annotations

import binascii
import json
import struct
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Iterable, Sequence
from importlib import resources
from pathlib import Path

from watchgate.link.paths import Paths
from watchgate.service.setup import agent_files
from watchgate.service.setup.forms.guarded_command import PASSED

OLDEST = (3, 8)
_PROBE_TIMEOUT_S = 10
_PROBE = (
    "import sys, json; print(json.dumps("
    "[sys.executable, sys.version_info[:2], sys.prefix == sys.base_prefix]))"
)


class NoInterpreterError(RuntimeError):
    """No base interpreter was found; the message says what was tried."""


def base_interpreter(candidates: Iterable[str | Path] | None = None) -> Path:
    """Returns the system's own Python from 3.8 on, else the base of the one running this.

    Never one of a virtual environment and never a version manager's shim: an upgrade of either
    would break every hook. Raises `NoInterpreterError`.
    """
    tried = []
    for candidate in candidates or _candidates():
        interpreter = probe_interpreter(Path(candidate))
        if interpreter is not None:
            return interpreter
        tried.append(str(candidate))
    raise NoInterpreterError(
        f"no Python {OLDEST[0]}.{OLDEST[1]} or newer outside a virtual environment "
        f"(tried {', '.join(tried)}): install python3 of your system"
    )


def probe_interpreter(python: Path) -> Path | None:
    """Returns the interpreter itself when it is fit, a shim's target for the shim, else None."""
    try:
        # Without -S, which would hide that the interpreter is a virtual environment's.
        answer = subprocess.run(
            [python, "-I", "-c", _PROBE],
            capture_output=True,
            check=True,
            timeout=_PROBE_TIMEOUT_S,
        )
        executable, version, base = json.loads(answer.stdout)
    except (OSError, subprocess.SubprocessError, ValueError):
        return None
    if not base or tuple(version) < OLDEST or not executable:
        return None
    real = Path(executable)
    return python if python.resolve() == real.resolve() else real


def _candidates() -> tuple[str, ...]:
    return "/usr/bin/python3", str(getattr(sys, "_base_executable", sys.executable))


NATIVE_NAME = "hook-client"
NATIVE_MODE = 0o700
_PATIENCE_S = 10
_WORD_BYTES, _FIRST, _PRIME = 8, 0xCBF29CE484222325, 0x100000001B3


def packaged_native() -> bytes | None:
    """Returns the one that this package carries, sealed; None in a wheel for every platform."""
    try:
        return sealed_native(resources.files("watchgate").joinpath(NATIVE_NAME).read_bytes())
    except FileNotFoundError:
        return None


def sealed_native(program: bytes) -> bytes:
    """Returns the program with its checksum behind it, as native/whole.c adds it.

    Both are read in words of eight bytes.
    """
    program += bytes(-len(program) % _WORD_BYTES)
    checksum = _FIRST
    for (word,) in struct.iter_unpack("=Q", program):
        checksum = (checksum ^ word) * _PRIME % 2**64
    return program + struct.pack("=Q", checksum)


def native_works(places: Paths, python: Path) -> bool:
    """Returns whether this package carries one that answers here as the one in Python does.

    Both must deny and hand back alike. It is tried beside the data directory, as programs may not
    run in every place, and with no core to be found; nothing of that stays.
    """
    content = packaged_native()
    if content is None:
        return False
    try:
        with tempfile.TemporaryDirectory(
            prefix=".watchgate-", dir=_existing(places.data_dir)
        ) as at:
            own = Path(at, NATIVE_NAME)
            agent_files.replace(own, content, NATIVE_MODE)
            with resources.as_file(resources.files("watchgate").joinpath("client.py")) as reference:
                start: tuple[str | Path, ...] = python, "-I", "-S", reference
                for lane, template, status in (("gate", "@", 2), ("relay", "", PASSED)):
                    nowhere = str(Path(at, "none", "ingest.sock"))
                    words = nowhere, "none", lane, "-", "5", template, "2", "", str(PASSED)
                    answer = _answer([own, *words])
                    if answer != _answer([*start, *words]) or answer[0] != status:
                        return False
    except (OSError, subprocess.SubprocessError):
        return False
    return True


def write_native(places: Paths) -> None:
    """Brings the copy that hooks run up to date, whole or not at all."""
    content, path = packaged_native(), places.native_client
    if content is None:
        return
    if not path.exists() or path.read_bytes() != content:
        agent_files.replace(path, content, NATIVE_MODE)
    path.chmod(NATIVE_MODE)


def _answer(words: Sequence[str | Path]) -> tuple[int, bytes, bytes]:
    done = subprocess.run(words, input=b"{}", capture_output=True, timeout=_PATIENCE_S, check=False)
    return done.returncode, done.stdout, done.stderr


def _existing(path: Path) -> Path:
    return next(each for each in (path, *path.parents) if each.is_dir())


_COMPILE_TIMEOUT_S = 10
_MAGIC_BYTES = 4
_UNQUOTED = frozenset("'\"\\")
"""Characters that cannot stand in a single-quoted command within a JSON text."""
# By the interpreter that is to run it, with the number that the launcher finds it by before it. No
# word of the source's comments is needed to run it.
_COMPILE = """
import marshal, sys, _frozen_importlib_external as importing
client = compile(sys.stdin.buffer.read(), sys.argv[1], "exec", dont_inherit=True, optimize=2)
sys.stdout.buffer.write(importing.MAGIC_NUMBER + marshal.dumps(client))
"""


def with_checksum(content: bytes) -> bytes:
    """Returns the content with its checksum behind it: in a script a comment."""
    return b"%b\n# %08x" % (content, binascii.crc32(content))


def packaged_copy(places: Paths) -> dict[Path, bytes]:
    """Returns this version's content of each file of the copy, in the order of writing.

    The launcher is last: once a hook can start it, what it runs is there.
    """
    package = resources.files("watchgate")
    return {
        places.uninstaller: package.joinpath("client_uninstall.py").read_bytes(),
        places.client_module: with_checksum(package.joinpath("client.py").read_bytes()),
        places.client: package.joinpath("client_launcher.py").read_bytes(),
    }


def write_copy(places: Paths) -> None:
    """Brings the copy up to date; what was compiled from another client goes first."""
    for path, content in packaged_copy(places).items():
        if not path.exists() or path.read_bytes() != content:
            for old in cached_bytecode(places):
                old.unlink(missing_ok=True)
            agent_files.replace(path, content)
    _link_program(places)


def _link_program(places: Paths) -> None:
    """Links the program, so that the client can tell when it is gone.

    Not where the folder's name cannot stand in a denial.
    """
    place = str(places.data_dir)
    if not (place.isascii() and place.isprintable()) or _UNQUOTED.intersection(place):
        return
    scripts = Path(sysconfig.get_path("scripts"), "watchgate")
    package = resources.files("watchgate")
    program = str(scripts if scripts.exists() else package)
    if not (places.program.is_symlink() and str(places.program.readlink()) == program):
        fresh = places.program.with_name(".program")
        fresh.unlink(missing_ok=True)
        fresh.symlink_to(program)
        fresh.replace(places.program)


def renew_bytecode(places: Paths, python: Path) -> bool:
    """Compiles the copy anew; false when nothing could be cached, so that each hook compiles it."""
    module = places.client_module
    cache = bytecode_directory(places)
    try:
        cache.mkdir(mode=0o700, exist_ok=True)
        cache.chmod(0o700)
        for old in cached_bytecode(places):
            old.unlink(missing_ok=True)
        compiled = subprocess.run(
            [python, "-I", "-S", "-c", _COMPILE, module],
            input=module.read_bytes(),
            capture_output=True,
            check=True,
            timeout=_COMPILE_TIMEOUT_S,
        ).stdout
        magic, bytecode = compiled[:_MAGIC_BYTES], compiled[_MAGIC_BYTES:]
        if not bytecode:
            return False
        agent_files.replace(cache / f"{module.stem}.{magic.hex()}.pyc", with_checksum(bytecode))
    except (OSError, subprocess.SubprocessError):
        return False
    return True


def bytecode_directory(places: Paths) -> Path:
    """Returns the folder in which the launcher looks for the bytecode of the copy."""
    return places.client_module.with_name("__pycache__")


def cached_bytecode(places: Paths) -> list[Path]:
    """Returns the bytecode of the copy, of each interpreter that compiled it."""
    return list(bytecode_directory(places).glob(f"{places.client_module.stem}.*.pyc"))
