"""The needs of a rule, in bits: what a command must have before the rule can be about it.

Most rules want something that most commands lack: an option, a redirect, an address. A rule is
passed over without a closer look where one bit of what it needs is missing.
"""

from __future__ import annotations

from watchgate.core.policy.rule_file import Access

ARGUMENT, DASH, ADDRESS, VARIABLE, FED, BUILT, CHANGED, TOUCH, READ, WRITE, DELETE = (
    1 << place for place in range(11)
)
"""Any argument, one that starts with `-`, an address, a variable that is set, a command before it
in its pipeline, one in its substitutions, a file that the session wrote, a path, and a path that is
read, written or deleted."""

ALL = -1

OF_KIND = {"read": TOUCH | READ, "write": TOUCH | WRITE, "delete": TOUCH | DELETE}
OF_ACCESS: dict[Access, int] = {
    "any": TOUCH,
    "read": TOUCH | READ,
    "write": TOUCH | WRITE,
    "delete": TOUCH | DELETE,
}
