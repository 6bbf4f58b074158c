"""Acts of a statement on a database, as rules name them."""

from __future__ import annotations

from typing import Literal

import msgspec

Statement = Literal[
    "read", "change", "drop", "delete-all", "rights", "program", "file", "unread", "hidden"
]
"""`read` and `change` (with a condition) are ordinary; `drop` takes objects away, `delete-all`
deletes or overwrites all rows, `rights` changes who may do what, `program` runs code or commands,
`file` reads or writes files; `unread` is shown and not understood, `hidden` is not shown."""

GRAVE: frozenset[Statement] = frozenset(
    ("drop", "delete-all", "rights", "program", "file", "unread")
)


class Act(msgspec.Struct, frozen=True):
    """One thing that a statement does, and to what: the `table` of the name `users`."""

    kind: Statement
    noun: str = ""
    name: str = ""
