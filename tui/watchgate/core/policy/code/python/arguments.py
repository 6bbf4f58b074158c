"""The arguments of a call."""

from __future__ import annotations

import msgspec

from watchgate.core.policy.code.python.values import Rest, Values


class Call(msgspec.Struct, frozen=True):
    """The arguments of a call; `spread` are the values of those given as `**x`."""

    positional: tuple[Values, ...] = ()
    named: dict[str, Values] = {}
    spread: tuple[Values, ...] = ()

    @property
    def values(self) -> tuple[Values, ...]:
        """All of them."""
        return (*self.positional, *self.named.values(), *self.spread)

    @property
    def flat(self) -> Values:
        """Return what all of them may be."""
        return tuple(value for values in self.values for value in values)

    @property
    def is_spread(self) -> bool:
        """Tell whether there may be others than those that stand here."""
        rest = any(isinstance(value, Rest) for values in self.positional for value in values)
        return rest or bool(self.spread)

    def at(self, place: int, name: str = "") -> Values:
        """The argument at a place, or of a name; nothing where it is not given."""
        if place < len(self.positional):
            return self.positional[place]
        return self.named.get(name, ())
