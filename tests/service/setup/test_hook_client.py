"""The stable copy of the hook client and its bytecode."""

from __future__ import annotations

import os
import stat
import subprocess
import zlib
from pathlib import Path

import pytest

from tests.client.fake_core import PYTHON
from watchgate import client, client_launcher
from watchgate.link.paths import Paths, paths
from watchgate.service.setup import agent_files, hook_client

BASE = Path(PYTHON)


@pytest.fixture
def places() -> Paths:
    return paths(os.environ)


def write(places: Paths) -> None:
    """All that an installation does with it."""
    hook_client.write_copy(places)
    hook_client.renew_bytecode(places, BASE)


def cached(places: Paths) -> Path:
    [found] = hook_client.bytecode_directory(places).iterdir()
    return found


def starts(places: Paths) -> bool:
    """Whether the installed command gets as far as the client's own answer."""
    words = [PYTHON, "-I", "-S", str(places.client), str(places.ingest_socket)]
    done = subprocess.run([*words, "claude", "gate", "-", "5", "@"], input=b"", capture_output=True)
    return (done.returncode, b"core is not running" in done.stdout) == (2, True)


def test_it_is_what_this_version_ships_and_private(places: Paths) -> None:
    write(places)

    assert places.client.read_bytes() == Path(client_launcher.__file__).read_bytes()
    source = Path(client.__file__).read_bytes()
    assert places.client_module.read_bytes() == source + b"\n# %08x" % zlib.crc32(source)
    files_of_it = (places.client, places.client_module, cached(places))
    assert {stat.S_IMODE(path.stat().st_mode) for path in files_of_it} == {0o600}


def test_the_launcher_comes_last(places: Paths, monkeypatch: pytest.MonkeyPatch) -> None:
    places.data_dir.mkdir(parents=True)
    written: list[Path] = []
    monkeypatch.setattr(agent_files, "replace", lambda path, content: written.append(path))

    write(places)

    assert written == [places.uninstaller, places.client_module, places.client]


def test_a_client_of_one_file_becomes_one_of_two(places: Paths) -> None:
    agent_files.replace(places.client, Path(client.__file__).read_bytes())
    assert starts(places)

    write(places)

    assert places.client.read_bytes() == Path(client_launcher.__file__).read_bytes()
    assert starts(places)


def test_what_is_up_to_date_is_not_written_again(places: Paths) -> None:
    write(places)
    before = [path.stat().st_ino for path in (places.client, places.client_module)]

    write(places)

    assert [path.stat().st_ino for path in (places.client, places.client_module)] == before


def test_nobody_else_may_put_bytecode_there(places: Paths) -> None:
    before = os.umask(0)
    try:
        write(places)
    finally:
        os.umask(before)

    assert stat.S_IMODE(hook_client.bytecode_directory(places).stat().st_mode) == 0o700


def test_bytecode_of_an_old_client_does_not_pass_for_the_new_one(places: Paths) -> None:
    places.data_dir.mkdir(parents=True)
    places.client_module.write_bytes(hook_client.with_checksum(b"raise SystemExit(0)\n"))
    places.client.write_bytes(Path(client_launcher.__file__).read_bytes())
    assert hook_client.renew_bytecode(places, BASE)
    assert not starts(places)

    hook_client.write_copy(places)

    assert starts(places)


@pytest.mark.parametrize("size_bytes", [0, 10, 100, 2_000])
def test_damaged_bytecode_is_mended(places: Paths, size_bytes: int) -> None:
    write(places)
    bytecode = cached(places)
    whole_bytes = bytecode.stat().st_size
    os.truncate(bytecode, size_bytes)

    assert hook_client.renew_bytecode(places, BASE)

    assert bytecode.stat().st_size == whole_bytes
    assert starts(places)


@pytest.mark.parametrize("python", ["/nowhere/python3", "/bin/false", "/bin/true"])
def test_an_interpreter_that_caches_nothing_is_no_fault(places: Paths, python: str) -> None:
    hook_client.write_copy(places)

    assert not hook_client.renew_bytecode(places, Path(python))
    assert starts(places)


def test_without_a_place_for_bytecode_the_client_works(places: Paths) -> None:
    places.data_dir.mkdir(parents=True)
    hook_client.bytecode_directory(places).touch()

    write(places)

    assert not hook_client.renew_bytecode(places, BASE)
    assert starts(places)
