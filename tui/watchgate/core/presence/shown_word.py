"""The word for how a request ended, as far as the record says who ended it."""

from __future__ import annotations

_CLAIM = "-by-operator"


def shown_word(word: str, by: str) -> str:
    """The word without its `-by-operator` where `by` names nobody who was proven to be one.

    A locked terminal may deny, and a registered program allow: `denied` and `allowed`, by those.
    """
    return word if by.startswith("operator") else word.removesuffix(_CLAIM)
