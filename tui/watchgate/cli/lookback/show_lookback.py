"""Showing a look back: on the terminal, as JSON lines, or as a picture in a file."""

from __future__ import annotations

import argparse
import os
import re
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from watchgate.cli.base.command_environment import ascii_terminal, configured, here
from watchgate.cli.base.printing import Stop, complain, json_line
from watchgate.core.lookback.lookback_report import GraveCall, LookbackReport, ModelCost

if TYPE_CHECKING:
    from watchgate.cli.lookback.coloured_lines import Line
    from watchgate.cli.lookback.lookback_page import LookbackPage
    from watchgate.ui.base.theme import Palette

SHOWN = 8
PICTURE_CELLS = 100
_MIN_SHOWN = 2
_MANY_ROWS = 50
_AROUND, _AROUND_TIGHT = 34, 21
"""Lines of a page beside the calls that it lists, and of the shell's own prompt."""


class LookbackResult(msgspec.Struct, frozen=True, kw_only=True):
    """All that a look back found; the home folder is not yet taken out of it."""

    report: LookbackReport
    cost: ModelCost | None
    notes: tuple[str, ...]
    home: str


def as_json(shown: LookbackResult, *, private: bool) -> None:
    """A line of numbers, and unless `private` one for each high or critical call."""
    report = homeless(shown.report, shown.home)
    calls = ("grave", "proposals") if private else ("grave",)
    numbers = {key: each for key, each in msgspec.to_builtins(report).items() if key not in calls}
    grave = report.risks.get("high", 0) + report.risks.get("critical", 0)
    json_line(
        {"kind": "summary", **numbers, "grave": grave, "cost": shown.cost, "notes": shown.notes}
    )
    if not private:
        for each in report.grave:
            json_line({"kind": "call", **msgspec.to_builtins(each)})


def as_page(outcome: LookbackResult, args: argparse.Namespace) -> None:
    """The page on stdout unless that has JSON, and as an SVG where one is asked for."""
    from watchgate.cli.lookback.coloured_lines import painted
    from watchgate.cli.lookback.lookback_page import MAX_CELLS, MIN_CELLS, composed
    from watchgate.ui.base.theme import NAMES, palette

    ui = configured(here(sockets=False)).ui
    colors = NAMES.get(ui.theme) or palette(ui.theme)
    if not args.json:
        size = shutil.get_terminal_size((80, 50))
        rows = size.lines if sys.stdout.isatty() else _MANY_ROWS
        tight = rows < _AROUND + 2 * _MIN_SHOWN
        fit = (rows - (_AROUND_TIGHT if tight else _AROUND)) // 2
        shown = min(SHOWN, max(_MIN_SHOWN, fit))
        cells = max(MIN_CELLS, min(MAX_CELLS, size.columns))
        page = _page(outcome, args, cells, shown)
        lines = composed(msgspec.structs.replace(page, tight=tight))
        plain = ui.ascii or ascii_terminal(os.environ)
        sys.stdout.write(painted(lines, colors, ascii_only=plain))
    if args.svg is not None:
        lines = composed(_page(outcome, args, PICTURE_CELLS, SHOWN))
        _write(args.svg, lines, colors, force=args.force)


def _page(
    outcome: LookbackResult, args: argparse.Namespace, cells: int, shown: int
) -> LookbackPage:
    from watchgate.cli.base.agent_listing import states_here
    from watchgate.cli.lookback.lookback_page import LookbackPage, span_of
    from watchgate.service.system.local_days import utc_offset_s

    report = homeless(outcome.report, outcome.home)
    offset = utc_offset_s(report.now_us)
    return LookbackPage(
        report=report,
        cost=outcome.cost,
        cells=cells,
        span=span_of(report, offset),
        shown=len(report.grave) if args.all else shown,
        private=args.private,
        about=outcome.notes,
        agents=tuple(states_here()),
        offset_s=offset,
    )


def homeless(report: LookbackReport, home: str) -> LookbackReport:
    """The report with the home folder as `~`, wherever a call names it."""
    at_home = re.compile(rf"(?<![\w.~-]){re.escape(home.rstrip('/'))}(?![\w.-])")
    if home in ("", "/"):
        return report

    def short(each: GraveCall) -> GraveCall:
        return msgspec.structs.replace(
            each,
            text=at_home.sub("~", each.text),
            cwd=at_home.sub("~", each.cwd),
            reason=at_home.sub("~", each.reason),
        )

    proposals = tuple(
        msgspec.structs.replace(
            each,
            text=at_home.sub("~", each.text),
            folder=at_home.sub("~", each.folder),
            examples=tuple(at_home.sub("~", example) for example in each.examples),
        )
        for each in report.proposals
    )
    grave = tuple(map(short, report.grave))
    return msgspec.structs.replace(report, grave=grave, proposals=proposals)


def _write(path: Path, lines: list[Line], colors: Palette, *, force: bool) -> None:
    from watchgate.cli.lookback.coloured_lines import svg
    from watchgate.service.system.new_file import NewFileError, new_file

    drawn = svg(lines, colors, title="watchgate lookback", cells=PICTURE_CELLS)
    try:
        with new_file(path, force=force) as file:
            file.write(drawn.encode("utf-8", "replace"))
    except NewFileError as fault:
        raise Stop(str(fault)) from None
    complain(f"the picture is in {path}: look at it before you share it")
