"""The requests that an extension may send, to a small memory of its own while the core runs.

Append takes `content` and, if it likes, `namespace` and `tags`; query takes `namespace`,
`contains`, `tag` and `limit`, newest first. The oldest records make room for new ones.
"""

from __future__ import annotations

from collections import deque
from typing import Annotated, Any, Final

import msgspec

from watchgate.core.base import decoding
from watchgate.core.dispatch.extensions.extension_rpc import (
    INVALID_PARAMS,
    METHOD_NOT_FOUND,
    NOT_PERMITTED,
    RpcRefusal,
)
from watchgate.core.dispatch.handlers import Permission

RECORDS_LIMIT: Final = 500


QUERY_LIMIT: Final = 100


Name = Annotated[str, msgspec.Meta(max_length=200)]


class MemoryRecord(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One record, as it is appended and as a query returns it."""

    content: Annotated[str, msgspec.Meta(max_length=4_096)]
    namespace: Name = ""
    tags: Annotated[tuple[Name, ...], msgspec.Meta(max_length=16)] = ()


class MemoryQuery(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A query for records; what is not given fits all."""

    namespace: Name | None = None
    contains: str | None = None
    tag: Name | None = None
    limit: Annotated[int, msgspec.Meta(ge=1, le=QUERY_LIMIT)] = 20

    def fits(self, record: MemoryRecord) -> bool:
        """Returns whether a record is one of them."""
        return (
            self.namespace in (None, record.namespace)
            and (self.contains is None or self.contains in record.content)
            and (self.tag is None or self.tag in record.tags)
        )


_NEEDS: Final[dict[str, Permission]] = {
    "memory.append": "memory.write",
    "memory.query": "memory.read",
}


class ExtensionMemory:
    """The memory of one extension, which answers the extension's requests."""

    def __init__(self, permissions: frozenset[Permission]) -> None:
        self._permissions = permissions
        self._records: deque[MemoryRecord] = deque(maxlen=RECORDS_LIMIT)

    def answer(self, method: str, params: Any) -> Any:
        """Answers a request: its result, or a `RpcRefusal`."""
        needs = _NEEDS.get(method)
        if needs is None:
            return RpcRefusal(METHOD_NOT_FOUND, f"there is no method {method[:80]!r} here")
        if needs not in self._permissions:
            return RpcRefusal(NOT_PERMITTED, f"{method} needs the permission {needs}")
        try:
            if method == "memory.append":
                self._records.append(decoding.convert(params, MemoryRecord))
                return {"ok": True}
            query = decoding.convert(params if params is not None else {}, MemoryQuery)
        except msgspec.ValidationError as fault:
            return RpcRefusal(INVALID_PARAMS, str(fault))
        matches = [record for record in reversed(self._records) if query.fits(record)]
        return {"records": matches[: query.limit]}
