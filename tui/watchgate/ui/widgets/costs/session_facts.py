"""The facts of one session's page: its cost and who says so, model, context, when and whence."""

from __future__ import annotations

from datetime import tzinfo

import msgspec

from watchgate.core.amounts import UNKNOWN, plural, tokens
from watchgate.core.text import safe_text
from watchgate.core.usage.session import SessionUsage
from watchgate.ui.costs.figures import CostRow
from watchgate.ui.costs.sums import dollars
from watchgate.ui.deciding.consequences import title
from watchgate.ui.formats import clock, percent
from watchgate.ui.theming.palettes import Token
from watchgate.ui.widgets.costs.words import model_name, named

FILES = "its transcripts"
CWD_CHARS = 400


class Fact(msgspec.Struct, frozen=True):
    """A label, what to read first of it, and the rest in words."""

    label: str
    value: str = ""
    words: str = ""

    def ink(self, quiet: Token, plain: Token) -> Token:
        """The ink of the words: quiet where they only say more of the value."""
        return quiet if self.value else plain


def facts(row: CostRow, used: SessionUsage | None, prices: str, zone: tzinfo | None) -> list[Fact]:
    """All that is known of it as a whole, in the order in which it is read."""
    who = title(row.key[0])
    if used is None:
        said = f"{who} reports no usage: nothing is known of it"
        return [Fact("cost", UNKNOWN), Fact("", "", said)]
    models = ", ".join(model_name(name, row.key[0]) for name in reversed(used.models))
    found = [
        *_costs(used, who, prices),
        Fact("model", "", models or UNKNOWN),
        Fact("context", "", _context(row, used)),
        Fact("last told", "", clock(used.at, zone) if used.at else UNKNOWN),
        Fact("told by", "", _sources(used) or UNKNOWN),
    ]
    if used.cwd:
        found.append(Fact("cwd", "", safe_text(used.cwd[:CWD_CHARS])))
    if used.unreadable:
        words = f"{plural(used.unreadable, 'line')} of its transcripts: in no figure here"
        found.append(Fact("unreadable", "", words))
    return found


def _costs(used: SessionUsage, who: str, prices: str) -> list[Fact]:
    """The figure with whose it is, and the other one beside it, which is never added."""
    by = {
        "reported": f"reported by {who}",
        "computed": f"computed from tokens, {_by(prices)}",
        "unknown": _unknown(used, who),
    }[used.source]
    least = "at least: " if used.least and used.cost is not None else ""
    found = [Fact("cost", dollars(used.cost), f"{least}{by}")]
    if used.unpriced and used.cost is not None:
        found.append(Fact("", "", f"without {_models(used)}: no table has a price"))
    if used.source == "reported" and used.computed_cost is not None:
        other = f"computed beside it, not added: {_by(prices)}"
        found.append(Fact("", dollars(used.computed_cost), other))
    if used.source == "computed" and used.reported_cost is not None:
        other = f"reported by {who} beside it, not added: it did not tell of all"
        found.append(Fact("", dollars(used.reported_cost), other))
    return found


def _by(prices: str) -> str:
    return safe_text(prices[:80]) or "by list prices"


def _unknown(used: SessionUsage, who: str) -> str:
    if used.unpriced:
        return f"no table has a price for {_models(used)}"
    return f"{who} reports tokens and no cost" if used.tokens else f"{who} reports no cost"


def _models(used: SessionUsage) -> str:
    return ", ".join(model_name(name, used.agent) for name in used.unpriced[:3])


def _context(row: CostRow, used: SessionUsage) -> str:
    if used.context_used is None:
        return UNKNOWN
    words = tokens(used.context_used)
    if used.context_size:
        words += f" of {tokens(used.context_size)}, {percent(row.context)}"
    return words


def _sources(used: SessionUsage) -> str:
    """Who told: streams and status lines by their names, and the session's files."""
    told = dict.fromkeys(named(meter.source) for meter in used.told.meters)
    files = [FILES] if used.counted is not None else []
    return ", ".join([*told, *files])
