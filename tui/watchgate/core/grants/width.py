"""The width of a grant: the calls that it answers besides the one it was given with.

`exact` is that call alone, `program` its programs with their subcommands and further arguments
that stay in the folder, `folder` every command there that the same rules of the policy, or the
rules of ordinary work, ask about.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final, Literal, get_args

Width = Literal["exact", "program", "folder"]

WIDTHS: tuple[Width, ...] = get_args(Width)

_LEADS_OUT: Final = re.compile(
    r"(?:^|[^\w.+%-])[/~]"  # from the root or a home, also behind `--to=`, and every address
    r"|^-\w+/"  # the same behind a letter: -C/srv
    r"|(?:^|[^\w.])\.\.(?:[^\w.]|$)|^-\w*\.\.|\\"
    r"|^[^/@]+@[^/:]+:"  # user@host:path
    r"|^[\w-]+(?:\.[\w-]+)+:[^:\d]"  # host:path
    # Another repository, account or machine.
    r"|^(?:-R|--(?:repo|repository|profile|endpoint(?:-url)?|host|hostname|server|registry"
    r"|context|kube-context|cluster))(?:=|$)"
    r"|\$"
)


def width_of(scope: str, chosen: Width | None) -> Width:
    """Returns the width of an allow where none was chosen: wide only where it is for good."""
    return chosen or ("program" if scope == "always" else "exact")


def stay_inside(words: Iterable[str]) -> bool:
    """Returns whether no word of a command can name a place outside its folder, by its text."""
    return not any(_LEADS_OUT.search(word) for word in words)
