"""The grants in force, folded from records: the list that a screen or a script shows."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from watchgate.core import decoding
from watchgate.core.grants.grant import GrantView
from watchgate.core.records import Record


class FoldedGrants:
    """Every grant in force by its id, oldest first."""

    def __init__(self, views: Iterable[GrantView] = ()) -> None:
        self.views = {view.id: view for view in views}

    def given(self, record: Record) -> None:
        """Adds a grant that was given, or is in force again."""
        view = decoding.convert(record.data, GrantView)
        self.views[view.id] = view

    def used(self, record: Record) -> None:
        """Counts that a grant answered a request."""
        data = record.data
        view = self.views.get(data["grant"])
        if view is not None:
            self.views[view.id] = msgspec.structs.replace(
                view, hits=data["hits"], used_at=data["used_at"], until_at=data["until_at"]
            )

    def over(self, record: Record) -> None:
        """Removes a grant that was taken back, or has ended."""
        self.views.pop(record.data["grant"], None)
