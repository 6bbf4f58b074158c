"""The drivers of Claude Code, Codex, Copilot, Gemini, OpenCode and Qwen Code, by their names."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path
from typing import Final

from watchgate.service.crashtest.agents.base import Agent
from watchgate.service.crashtest.agents.every import AGENTS
from watchgate.service.crashtest.throwaway import throwaway
from watchgate.service.crashtest.trial import how
from watchgate.service.runners.child import run_child
from watchgate.service.runners.spawn import ChildSpec

_VERSION: Final = re.compile(r"\d+(?:\.\d+)+(?:[-+][\w.]*\w)?")
_VERSION_S: Final = 30.0
_NOWHERE: Final = "http://127.0.0.1:9"


class NotFoundError(Exception):
    """An agent that is not installed or does not start; the text says how to mend it."""


def found(name: str, program: Path | None) -> Agent:
    """Returns the driver of this program, or of the agent's on PATH; raises `NotFoundError`."""
    where = str(program) if program else shutil.which(name)
    if where is None:
        raise NotFoundError(f"{name} is not on PATH: install it, or name it with --program PATH")
    # Not resolved: an agent may be found by what lies beside the link to it.
    path = Path(where).absolute()
    if not os.access(path, os.X_OK) or path.is_dir():
        raise NotFoundError(f"{path} is no program: name the agent's own with --program PATH")
    return AGENTS[name](path, _version(AGENTS[name](path, "")))


def _version(agent: Agent) -> str:
    argv = (str(agent.program), "--version")
    with throwaway() as place:
        environment = agent.whole_environment(place, _NOWHERE)
        end = run_child(ChildSpec(argv=argv, cwd=str(place.work), env=environment), _VERSION_S)
    match = _VERSION.search(end.stdout.decode(errors="replace"))
    if end.exit_code != 0 or match is None:
        what = "waited too long" if end.why == "timeout" else how(end)
        raise NotFoundError(f"{agent.program} --version told no version: it {what}")
    return match[0]
