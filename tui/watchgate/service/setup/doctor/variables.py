"""Checks what installed entries start, and the variables that could end it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from watchgate.agents.base import Adapter, Setup
from watchgate.service.integrity.examiner import variable_files
from watchgate.service.integrity.findings import variables_judge
from watchgate.service.integrity.looked import looked_at
from watchgate.service.setup.doctor.check import Check


def check_variables(
    agent: Adapter, setup: Setup, env: Mapping[str, str], cwd: Path
) -> Iterator[Check]:
    """Yields one finding per file that sets such a variable, or that none does."""
    name, well = f"{agent.name}: variables", True
    for path, _root, dotenv in variable_files(setup, env, [str(cwd)]):
        judge = variables_judge(agent, path, env.get("HOME", ""), dotenv=dotenv)
        try:
            alarm = judge(looked_at(Path(path)))
        except OSError as fault:
            well = False
            yield Check(name, "warn", f"{path} cannot be read: {fault.strerror}", "look again")
            continue
        if alarm is not None:
            well = False
            yield Check(name, "fail", alarm.what, alarm.mend)
    if well and setup.silencers is not None:
        yield Check(name, "ok", "no file sets a variable that can keep hooks from running")
