"""The condition of a `DELETE` or `UPDATE`: whether it chooses rows, or holds for all of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from watchgate.core.policy.code.sql.sql_tokens import SqlToken
from watchgate.core.policy.shell.commands import names

Tokens = Sequence[SqlToken]

_NO_COLUMNS: Final = names(
    """TRUE FALSE NULL NOT IS AND LIKE ILIKE IN BETWEEN EXISTS ANY ALL SOME SELECT FROM WHERE AS
    CASE WHEN THEN ELSE END INTERVAL DATE TIMESTAMP CURRENT_DATE CURRENT_TIME CURRENT_TIMESTAMP
    CURRENT_USER SESSION_USER USER LIMIT DISTINCT VALUES UNION"""
)
_COMPARED: Final = frozenset(("=", "==", ">=", "<=", "<=>"))


def chooses(tokens: Tokens) -> bool:
    """Tell whether a statement that begins here has a `WHERE` of its own that chooses rows."""
    condition = list(_where(tokens))
    return bool(condition) and all(
        any(map(_chooses, _parts(either, "AND"))) for either in _parts(condition, "OR", "||")
    )


def _where(tokens: Tokens) -> Iterator[SqlToken]:
    depth, inside = 0, False
    for token in tokens:
        depth += token.is_sign("(") - token.is_sign(")")
        if depth < 0:
            return
        if depth == 0 and token.is_word("WHERE"):
            inside = True
        elif depth == 0 and token.is_word("RETURNING", "ORDER", "LIMIT", "ON"):
            inside = False
        elif inside:
            yield token


def _parts(tokens: Tokens, *between: str) -> Iterator[list[SqlToken]]:
    own: list[SqlToken] = []
    for token in tokens:
        if token.kind in ("word", "sign") and token.text in between:
            yield own
            own = []
        else:
            own.append(token)
    yield own


def _chooses(part: Tokens) -> bool:
    """Tell whether one comparison may fail for some rows."""
    own = [token for token in part if token.text not in ("(", ")")]
    texts = [token.text for token in own]
    columns = [
        token
        for token, behind in zip(part, [*part[1:], None], strict=False)
        if (token.kind == "name" or (token.kind == "word" and token.text not in _NO_COLUMNS))
        and not (behind is not None and behind.is_sign("("))
    ]
    if not columns:
        return False
    if "NULL" in texts and "NOT" in texts:
        return False
    if len(texts) % 2 and texts[: len(texts) // 2] == texts[len(texts) // 2 + 1 :]:
        return texts[len(texts) // 2] not in _COMPARED
    if own[-1].kind == "string" and own[-1].text.strip("%") == "" and own[-1].text:
        return False
    above = any(text in (">", ">=", "<>", "!=") for text in texts)
    low = own[-1].kind == "number" and (own[-1].text.strip("0.") == "" or texts[-2:-1] == ["-"])
    return not (above and low)
