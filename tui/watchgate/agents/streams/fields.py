"""Fields may be of any version of their writer: what is not there is empty."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from watchgate.agents.base import DecodeError
from watchgate.agents.hooks.payload import text

Fields = Mapping[str, Any]

NAME_CHARS = 512
FOLDER_CHARS = 8_192
_NOTHING: dict[str, Any] = {}


def word(fields: Fields, *keys: str) -> str:
    """Returns the first of these fields that is a text with something in it."""
    texts = (value for key in keys if isinstance(value := fields.get(key), str) and value)
    return next(texts, "")


def name(fields: Fields, *keys: str) -> str:
    """Returns a text that identifies something; raises `DecodeError` when it is too long."""
    identifier = word(fields, *keys)
    if len(identifier) > NAME_CHARS:
        raise DecodeError(f"{' or '.join(keys)} has over {NAME_CHARS} characters")
    return identifier


def folder(fields: Fields, *keys: str) -> str:
    """Returns a path; raises `DecodeError` for one that no system has."""
    path = word(fields, *keys)
    if len(path) > FOLDER_CHARS:
        raise DecodeError(f"{' or '.join(keys)} has over {FOLDER_CHARS} characters")
    return path


def whole(fields: Fields, key: str) -> int | None:
    """Returns a whole number; None for anything else, also for a boolean."""
    value = fields.get(key)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def table(fields: Fields, key: str) -> dict[str, Any]:
    """Returns an object; an empty one for anything else."""
    value = fields.get(key)
    return value if isinstance(value, dict) else _NOTHING


def rest(fields: Fields, but: Collection[str] = ()) -> str:
    """Returns all fields but these as bounded JSON, "" when none is left: what nobody described."""
    left = {key: value for key, value in fields.items() if key not in but}
    return text(left) if left else ""
