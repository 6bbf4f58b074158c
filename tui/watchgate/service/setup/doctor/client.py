"""Checks what installed entries start, and the variables that could end it."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from watchgate.agents.base import Adapter
from watchgate.link.paths import Paths
from watchgate.service.setup import client_copy, native_client
from watchgate.service.setup.doctor.check import Check
from watchgate.service.setup.interpreter import probe


def check_client(agent: Adapter, programs: Iterable[Path | None], places: Paths) -> Iterator[Check]:
    """Checks the client's copy and its bytecode, for each interpreter that entries run.

    None stands for the native client, which needs no interpreter.
    """
    install, programs = f"watchgate install {agent.name}", set(programs)
    if None in programs:
        yield _check_native(f"{agent.name}: native client", places, install)
    for python in sorted(each for each in programs if each is not None):
        copy = _check_copy(f"{agent.name}: client", places, install)
        yield copy
        runs = _check_python(f"{agent.name}: interpreter", python, install)
        yield runs
        if copy.status == "ok" and runs.status != "fail":
            yield _check_bytecode(f"{agent.name}: bytecode", places, python)


def _check_copy(name: str, places: Paths, install: str) -> Check:
    for path, content in client_copy.packaged(places).items():
        try:
            present = path.read_bytes()
        except OSError as error:
            return Check(name, "fail", f"{path}: {error.strerror}", install)
        if present != content:
            return Check(name, "fail", f"{path} is of another version", install)
    if places.program.is_symlink() and not places.program.exists():
        text = f"denials say that the program is gone, as {places.program.readlink()} is"
        return Check(name, "warn", text, install)
    text = f"{places.client} and {places.client_module.name} are the client of this version"
    return Check(name, "ok", text)


def _check_native(name: str, places: Paths, install: str) -> Check:
    path = places.native_client
    try:
        same, runs = path.read_bytes() == native_client.packaged(), os.access(path, os.X_OK)
    except OSError as error:
        return Check(name, "fail", f"{path}: {error.strerror}", install)
    if not same:
        return Check(name, "fail", f"{path} is of another version", install)
    if not runs:
        return Check(name, "fail", f"{path} may not be run", install)
    return Check(name, "ok", f"{path} is the native client of this version")


def _check_bytecode(name: str, places: Paths, python: Path) -> Check:
    cache = client_copy.bytecode_directory(places)
    if client_copy.renew_bytecode(places, python):
        return Check(name, "ok", f"{python} finds the client compiled, anew just now, in {cache}")
    text = f"{python} cannot cache bytecode in {cache}: each hook compiles the client and is slower"
    return Check(name, "warn", text, f"give yourself the right to write to {cache}")


def _check_python(name: str, path: Path, install: str) -> Check:
    interpreter = probe(path)
    if interpreter is None:
        text = f"{path} does not run, is older than 3.8, or is a virtual environment's"
        return Check(name, "fail", text, install)
    if interpreter != path:
        return Check(name, "warn", f"{path} is a shim for {interpreter}", install)
    return Check(name, "ok", f"{path} runs")
