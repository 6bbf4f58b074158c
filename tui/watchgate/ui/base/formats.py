"""Numbers, times, names and cut texts as the console writes them; every function is pure.

Machine time is `41 ms`, `0.8 s`, `2:05`, `1 h 12 min`; a person's time is always `m:ss`; what was
not measured is `-`, what is not known is `?`, and an unknown is never shown as zero.

Texts from outside are shown on one line, safe and without their secrets (`covered`). Names of
sessions in a narrow column are cut so that they still differ (`short_names`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime, tzinfo
from functools import lru_cache

from rich.cells import cell_len, get_character_cell_size, set_cell_size

from watchgate.core.base.amounts import UNKNOWN
from watchgate.core.base.text import safe_text
from watchgate.core.secrets.redact import redact
from watchgate.core.state.hosts import own_id
from watchgate.ui.base.ascii_only import spelled


def covered(text: str) -> str:
    """The text with every secret as `<aws-key, 20 chars>` and every hidden character visible.

    To be called before a text is cut to what a line holds: the first part of a secret looks like
    none. Of a text of megabytes the beginning is enough for any line.
    """
    return spelled(_covered(text[:LINE_CHARS]))


LINE_CHARS = 65_536
"""Characters of a text that one line can show at most."""


@lru_cache(maxsize=512)
def _covered(text: str) -> str:
    return safe_text(redact(text))


DOTS = "..."
UNMEASURED = "-"
_LOOKED_AT = 16
"""Characters for each cell that a cut text is measured by: most take a cell, marks take none."""


def took(ms: int | None, *, running: bool = False) -> str:
    """Elapsed machine time in at most 6 cells, for a table; whole seconds while still running."""
    if ms is None:
        return UNMEASURED
    if ms < 100 and not running:
        return f"{ms} ms"
    if ms < 60_000:
        return f"{ms // 1000} s" if running else f"{ms / 1000:.1f} s"
    minutes, seconds = divmod(ms // 1000, 60)
    if minutes < 60:
        return f"{minutes}:{seconds:02d}"
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes}" if hours < 10 else f"{hours} h"


def machine(ms: float | None) -> str:
    """Elapsed machine time in a sentence, as long as it needs to be."""
    if ms is None:
        return UNMEASURED
    if ms < 1:
        return f"{ms:.1f} ms"
    if ms < 1000:
        return f"{ms:.0f} ms"
    if ms < 3_600_000:
        return took(int(ms))
    hours, minutes = divmod(int(ms) // 60_000, 60)
    return f"{hours} h {minutes} min"


def person(seconds: float) -> str:
    """A person's time, waiting or left, as `m:ss`; what is over reads `0:00`."""
    minutes, rest = divmod(max(0, int(seconds)), 60)
    return f"{minutes}:{rest:02d}"


def ago(seconds: float) -> str:
    """Returns a duration in its largest unit: `22 s`, `1 min`, `3 h`, `2 d`."""
    whole = max(0, int(seconds))
    for size, unit in ((86_400, "d"), (3_600, "h"), (60, "min")):
        if whole >= size:
            return f"{whole // size} {unit}"
    return f"{whole} s"


def clock(at_us: int, zone: tzinfo | None = None) -> str:
    """The time of day `12:04:11` of a UTC moment, in `zone` or else where this machine is."""
    return datetime.fromtimestamp(at_us / 1_000_000, zone).strftime("%H:%M:%S")


def percent(share: float | None) -> str:
    """A share of 0 to 1 as `62 %`, `?` when not known."""
    return UNKNOWN if share is None else f"{100 * share:.0f} %"


def short_id(request: str) -> str:
    """The shortest prefix of a request id that commands accept: `#a41f`, wherever it was asked."""
    return f"#{own_id(request)[:4]}"


def width(text: str) -> int:
    """The cells that a text takes in a terminal."""
    return cell_len(text)


def cut(text: str, cells: int) -> tuple[str, str]:
    """Cuts a text to so many cells; returns it and the dots after it (empty when all fits)."""
    head = text[: _LOOKED_AT * max(1, cells)]
    if len(head) < len(text) and cell_len(head) > cells:
        text = head  # Enough to know that it is too long; measuring all of it takes its time.
    if cell_len(text) <= cells:
        return text, ""
    if cells <= len(DOTS):
        return "", DOTS[: max(0, cells)]
    return set_cell_size(text, cells - len(DOTS)).rstrip(" "), DOTS


def cut_front(text: str, cells: int) -> str:
    """The end of a text (of a path: what names it best) with dots in front when it was too long."""
    tail = text[-_LOOKED_AT * max(1, cells) :]
    if cell_len(tail) <= cells and cell_len(text) <= cells:
        return text
    if cells <= len(DOTS):
        return DOTS[: max(0, cells)]
    return DOTS + text[len(text) - fitting_end(text, cells - len(DOTS)) :]


def cut_name(name: str, cells: int) -> str:
    """Cuts a name to so many cells in its middle, not at its end nor in what `~` begins.

    Sessions of one folder, and most folders of one kind, differ at their ends.
    """
    if cell_len(name) <= cells:
        return name
    base, mark, own = name.rpartition("~")
    if mark and cell_len(own) + 2 <= cells:
        return base[: fitting_start(base, cells - cell_len(own) - 1)] + mark + own
    end = max(0, cells - len(DOTS)) // 2
    start = fitting_start(name, cells - len(DOTS) - end)
    return "".join((name[:start], DOTS, name[len(name) - fitting_end(name, end) :]))[:cells]


def fitting_start(text: str, cells: int) -> int:
    """Returns the number of characters from a text's start that fit into so many cells."""
    return _fitting(text, cells)


def fitting_end(text: str, cells: int) -> int:
    """Returns the number of characters at a text's end that fit into so many cells."""
    return _fitting(reversed(text), cells)


def _fitting(characters: Iterable[str], cells: int) -> int:
    taken = 0
    for character in characters:
        cells -= get_character_cell_size(character)
        if cells < 0:
            break
        taken += 1
    return taken


def home(path: str, home_dir: str) -> str:
    """A path with the home directory written `~`."""
    if home_dir and (path == home_dir or path.startswith(home_dir.rstrip("/") + "/")):
        return "~" + path[len(home_dir.rstrip("/")) :]
    return path


COMPARED_NAMES = 500
"""Names that are compared with one another; of more nobody sees which are alike."""


def short_names(names: Iterable[str], cells: int) -> dict[str, str]:
    """Cuts each name to so many cells; those that would be equal are cut where they differ."""
    short = {name: cut_name(name, cells) for name in names}
    alike: dict[str, list[str]] = {}
    for name, text in short.items():
        alike.setdefault(text, []).append(name)
    if len(short) <= COMPARED_NAMES:
        for equal in alike.values():
            if len(equal) > 1:
                short |= _cut_where_they_differ(equal, cells)
    return short


def _cut_where_they_differ(names: Sequence[str], cells: int) -> dict[str, str]:
    """The names from the first place on in which they differ."""
    columns = enumerate(zip(*names, strict=False))
    start = next((at for at, column in columns if len(set(column)) > 1), min(map(len, names)))
    room = cells - len(DOTS)
    return {name: DOTS + "".join(cut(name[start:], room)) for name in names}
