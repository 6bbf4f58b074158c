"""The gravest calls of a look back, two lines each: what was asked for, and why that is grave."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from watchgate.cli.lookback.picture import Line, Span, apart, cut
from watchgate.cli.lookback.words import INK, LABEL, Page, day
from watchgate.core.text import safe_text

if TYPE_CHECKING:
    from watchgate.core.lookback.report import Grave
    from watchgate.core.policy.assessment import Risk

_DATE = 8


def gravest(page: Page) -> list[Line]:
    """The list with its title."""
    grave, cells = page.report.grave, page.cells
    more = len(grave) - page.shown
    title = (Span(" The gravest", bold=True),)
    counted = f"{len(grave):,} different" if more <= 0 else f"{page.shown} of {len(grave):,}"
    lines: list[Line] = [apart(title, (Span(counted, "dim"),), cells)]
    for each in _picked(grave, page.shown):
        lines += _one(each, page)
    if more > 0 and not page.tight:
        hint = Span(f"{'':{LABEL}}and {more:,} more: watchgate lookback --all", "dim")
        lines.append((hint,))
    return lines


def _picked(grave: tuple[Grave, ...], shown: int) -> list[Grave]:
    """Some of them that show what kinds there are: of each risk first one for each rule."""
    if len(grave) <= shown:
        return list(grave)
    counts: Counter[str] = Counter()
    kinds: dict[Risk, list[tuple[int, Grave]]] = {}
    for each in grave:
        kinds.setdefault(each.risk, []).append((counts[each.rule], each))
        counts[each.rule] += 1
    critical, high = (
        [each for _, each in sorted(kinds.get(risk, []), key=lambda pair: pair[0])]
        for risk in ("critical", "high")
    )
    few = max(shown - len(high), shown - shown * 3 // 8)
    chosen = critical[:few]
    return chosen + high[: shown - len(chosen)]


def _one(each: Grave, page: Page) -> list[Line]:
    room = page.cells - LABEL
    count = f"  x{each.count:,}" if each.count > 1 else ""
    when = f"  {day(each.at_us, page.offset_s)}".rjust(_DATE)
    text = cut(safe_text(each.text or each.tool), room - len(count) - len(when))
    ink = INK[each.risk]
    where = f"  {each.agent}  {safe_text(each.cwd)}" if each.cwd else f"  {each.agent}"
    where = _last(where, room // 3)
    reason = cut(safe_text(each.reason), room - len(where))
    return [
        apart(
            (Span(f" {each.risk}".ljust(LABEL), ink, bold=True), Span(text)),
            (Span(count, ink, bold=True), Span(when, "dim")),
            page.cells,
        ),
        apart((Span(" " * LABEL), Span(reason, "dim")), (Span(where, "dim"),), page.cells),
    ]


def _last(where: str, cells: int) -> str:
    """A folder is known by its end."""
    folder = where.rpartition("/")[2]
    agent = where.split("/", maxsplit=1)[0].rpartition("  ")[0]
    return where if len(where) <= cells or not agent.strip() else cut(f"{agent}  {folder}", cells)
