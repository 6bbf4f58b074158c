"""Checks this machine: directories, sockets, disk, core, shell parser, PIN and terminal."""

from __future__ import annotations

from watchgate.core.policy.shell import grammar
from watchgate.service.setup.doctor.check import Check

NAME = "shell parser"


def check_parser() -> Check:
    """Checks that shell commands can be read here."""
    if grammar.available():
        return Check(NAME, "ok", "shell commands can be read")
    text = (
        "tree-sitter-bash is missing or does not fit: every shell command counts as unknown, "
        "and no rule allows one"
    )
    return Check(NAME, "fail", text, "install watchgate again, with all that it requires")
