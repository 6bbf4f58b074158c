"""Numbers, times and cut texts as the console writes them; every function is pure.

Machine time is `41 ms`, `0.8 s`, `2:05`, `1 h 12 min`; a person's time is always `m:ss`; what was
not measured is `-`, what is not known is `?`, and an unknown is never shown as zero.
"""

from __future__ import annotations

from datetime import datetime, tzinfo

from rich.cells import cell_len, set_cell_size

DOTS = "..."
UNKNOWN = "?"
UNMEASURED = "-"


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
    """How long something has lasted, in its largest unit: `22 s`, `1 min`, `3 h`, `2 d`."""
    whole = max(0, int(seconds))
    for size, unit in ((86_400, "d"), (3_600, "h"), (60, "min")):
        if whole >= size:
            return f"{whole // size} {unit}"
    return f"{whole} s"


def clock(at_us: int, zone: tzinfo | None = None) -> str:
    """The time of day `12:04:11` of a UTC moment, in `zone` or else where this machine is."""
    return datetime.fromtimestamp(at_us / 1_000_000, zone).strftime("%H:%M:%S")


def money(usd: float | None) -> str:
    """Dollars with two decimals, three below a cent, `?` when not known."""
    if usd is None:
        return UNKNOWN
    return f"${usd:.3f}" if 0 < usd < 0.01 else f"${usd:,.2f}"


def count(number: int) -> str:
    """A number with its thousands apart: `1,182`."""
    return f"{number:,}"


def plural(number: int, noun: str) -> str:
    """A count with its noun: `1 session`, `4 sessions`."""
    return f"{count(number)} {noun}{'' if number == 1 else 's'}"


def short_id(request: str) -> str:
    """The shortest prefix of a request id that commands accept: `#a41f`."""
    return f"#{request[:4]}"


def width(text: str) -> int:
    """The cells that a text takes in a terminal."""
    return cell_len(text)


def cut(text: str, cells: int) -> tuple[str, str]:
    """What fits of a text, and the dots after it (empty when all of it fits), together <= cells."""
    if cell_len(text) <= cells:
        return text, ""
    if cells <= len(DOTS):
        return "", DOTS[: max(0, cells)]
    return set_cell_size(text, cells - len(DOTS)).rstrip(" "), DOTS


def cut_front(text: str, cells: int) -> str:
    """The end of a text (of a path: what names it best) with dots in front when it was too long."""
    if cell_len(text) <= cells:
        return text
    kept = text
    while kept and cell_len(kept) > cells - len(DOTS):
        kept = kept[1:]
    return (DOTS + kept)[: max(0, cells)] if cells <= len(DOTS) else DOTS + kept


def home(path: str, home_dir: str) -> str:
    """A path with the home directory written `~`."""
    if home_dir and (path == home_dir or path.startswith(home_dir.rstrip("/") + "/")):
        return "~" + path[len(home_dir.rstrip("/")) :]
    return path
