"""The characters that the terminal shows, as far as the environment says."""

from __future__ import annotations

import locale
import sys
from collections.abc import Mapping

_NAMES = ("LC_ALL", "LC_CTYPE", "LANG")
"""The variables that name a locale's character set; the first that is set counts (POSIX)."""

_PLAIN = ("C", "POSIX")
_COERCED = "C.UTF-8"
"""What Python itself puts into LC_CTYPE in a plain locale (PEP 538): it says nothing."""


def ascii_terminal(environ: Mapping[str, str]) -> bool:
    """Return whether the terminal is known to show no UTF-8; without any word about it, it does.

    The words count, not what Python made of them: a locale that this machine does not have is
    still what the terminal at the other end of an ssh connection has.
    """
    values = [value for name in _NAMES if (value := environ.get(name))]
    coerced = not environ.get("LC_ALL") and values[:1] == [_COERCED]
    if coerced and environ.get("LANG") in _PLAIN:
        return True
    if not values:
        return not _utf8(getattr(sys.stdout, "encoding", None) or "utf-8")
    named, _, charset = values[0].partition(".")
    if charset or named in _PLAIN:
        return not _utf8(charset.partition("@")[0])
    return not (_utf8(named) or _utf8(locale.getencoding()))


def _utf8(charset: str) -> bool:
    return charset.lower().replace("-", "").replace("_", "") == "utf8"
