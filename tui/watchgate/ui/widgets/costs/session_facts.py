"""The costs of one session: facts, kinds of tokens, days and models, turns, sub-agents."""

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
    """A label, the value to read first, and the rest in words."""

    label: str
    value: str = ""
    words: str = ""

    def ink(self, quiet: Token, plain: Token) -> Token:
        """Returns the ink of the words: quiet where they only explain the value."""
        return quiet if self.value else plain


def facts(row: CostRow, used: SessionUsage | None, prices: str, zone: tzinfo | None) -> list[Fact]:
    """Returns all that is known of the session as a whole, in reading order."""
    who = title(row.key[0])
    if used is None:
        report = f"{who} reports no usage: nothing is known of it"
        return [Fact("cost", UNKNOWN), Fact("", "", report)]
    models = ", ".join(model_name(name, row.key[0]) for name in reversed(used.models))
    all_facts = [
        *_costs(used, who, prices),
        Fact("model", "", models or UNKNOWN),
        Fact("context", "", _context(row, used)),
        Fact("last told", "", clock(used.at, zone) if used.at else UNKNOWN),
        Fact("told by", "", _sources(used) or UNKNOWN),
    ]
    if used.cwd:
        all_facts.append(Fact("cwd", "", safe_text(used.cwd[:CWD_CHARS])))
    if used.unreadable:
        words = f"{plural(used.unreadable, 'line')} of its transcripts: in no figure here"
        all_facts.append(Fact("unreadable", "", words))
    return all_facts


def _costs(used: SessionUsage, who: str, prices: str) -> list[Fact]:
    """Returns the figure with its source, and the other one next to it, which is never added."""
    by = {
        "reported": f"reported by {who}",
        "computed": f"computed from tokens, {_by(prices)}",
        "unknown": _unknown(used, who),
    }[used.source]
    bound = "at least: " if used.is_lower_bound and used.cost is not None else ""
    all_facts = [Fact("cost", dollars(used.cost), f"{bound}{by}")]
    if used.unpriced and used.cost is not None:
        all_facts.append(Fact("", "", f"without {_models(used)}: no table has a price"))
    if used.source == "reported" and used.computed_cost is not None:
        other = f"computed beside it, not added: {_by(prices)}"
        all_facts.append(Fact("", dollars(used.computed_cost), other))
    if used.source == "computed" and used.reported_cost is not None:
        other = f"reported by {who} beside it, not added: it did not tell of all"
        all_facts.append(Fact("", dollars(used.reported_cost), other))
    return all_facts


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
    """Names the sources: streams and status lines by their names, and the session's files."""
    streams = dict.fromkeys(named(meter.source) for meter in used.reported.meters)
    files = [FILES] if used.counted is not None else []
    return ", ".join([*streams, *files])
