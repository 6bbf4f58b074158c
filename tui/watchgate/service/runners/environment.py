"""The part of the core's environment that a hook command gets: a short list, never all of it.

A core may have been started by anything, so its environment holds whatever that had: keys,
tokens, an agent's own settings. None of it is a hook's business. `SSH_AUTH_SOCK` is left out on
purpose: it lends the user's keys. What a hook needs beyond this list, its `env` in the
configuration names.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Final

ALLOWED: Final = frozenset(
    "PATH HOME USER LOGNAME SHELL LANG LANGUAGE TZ TMPDIR XDG_RUNTIME_DIR".split()
)
ALLOWED_PREFIX: Final = "LC_"


def hook_environment(parent: Mapping[str, str], added: Mapping[str, str] = {}) -> dict[str, str]:
    """Returns the allowed part of `parent`, and then what the configuration adds.

    A PATH loses its relative entries: they would let the session's folder supply the programs.
    """
    env = {
        name: value
        for name, value in parent.items()
        if name in ALLOWED or name.startswith(ALLOWED_PREFIX)
    }
    entries = env.get("PATH", os.defpath).split(os.pathsep)
    env["PATH"] = os.pathsep.join(entry for entry in entries if entry.startswith("/"))
    return {**env, **added}
