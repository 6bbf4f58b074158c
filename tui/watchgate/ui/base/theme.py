"""The themes of the console, the marks of risks, and the stylesheets.

A widget draws with `palette(self.app.theme).style("dim", "s1", bold=True)`; a stylesheet writes
`$wg-s1`. Tokens are the only colours there are, with checked contrasts for dark, light and mono
terminals, so that a theme can be judged as one table. Stylesheets are inside the installed package,
or next to the source root of a checkout.

Terminals with fewer colours get themes of their own. Brought down to 256 colours, all dark surfaces
are one black and the light ones one white, so these are chosen by what Rich makes of them there.
With 16 colours surfaces are given up, and a disabled hint differs only by its words: no grey is
left that could be read on the cursor's row as well.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path, PurePath
from typing import Literal

import msgspec
from rich.style import Style
from textual.theme import Theme

PACKAGE = Path(__file__).parent.parent.parent
PLACES = (PACKAGE / "styles", PACKAGE.parent.parent / "styles")


def stylesheets(*names: str, places: tuple[Path, ...] = PLACES) -> list[str | PurePath]:
    """The absolute paths of the named stylesheets; raises `FileNotFoundError`."""
    for place in places:
        if place.is_dir():
            return [place / f"{name}.tcss" for name in names]
    looked = " and ".join(str(place) for place in places)
    raise FileNotFoundError(f"no stylesheets in {looked}: install watchgate again")


Token = Literal[
    "bg", "s1", "s2", "sel", "fg", "dim", "off", "faint", "accent",
    "low", "medium", "high", "critical", "alarm", "alarm_ink",
    "add", "add_ground", "del", "del_ground",
]  # fmt: skip


class Palette(msgspec.Struct, frozen=True, kw_only=True):
    """One theme: its name, whether it is dark, and the colour of every token as `#rrggbb`.

    `flat` says that its surfaces look the same: what lies on them has to be told apart by lines.
    """

    name: str
    dark: bool
    flat: bool = False
    colors: dict[Token, str]

    def __hash__(self) -> int:
        return hash(self.name)

    def style(
        self,
        ink: Token = "fg",
        ground: Token | None = None,
        *,
        bold: bool = False,
        underline: bool = False,
        reverse: bool = False,
    ) -> Style:
        """Returns the style of a segment, which never blinks.

        Args:
            ink: The token of the text.
            ground: The token below it; None keeps what is there.
            bold: Bold text.
            underline: Underlined text.
            reverse: Ink and ground exchanged.
        """
        return _style(self, ink, ground, bold, underline, reverse)

    def theme(self) -> Theme:
        """The Textual theme with the same colours, as variables `$wg-TOKEN`."""
        c = self.colors
        return Theme(
            name=self.name,
            primary=c["accent"],
            secondary=c["dim"],
            accent=c["accent"],
            warning=c["high"],
            error=c["alarm"],
            success=c["accent"],
            foreground=c["fg"],
            background=c["bg"],
            surface=c["s1"],
            panel=c["s2"],
            dark=self.dark,
            variables={
                "block-cursor-background": c["sel"],
                "block-cursor-foreground": c["fg"],
                "input-cursor-background": c["accent"],
                "input-cursor-foreground": c["bg"],
                "input-selection-background": c["sel"],
                "scrollbar": c["s2"],
                "scrollbar-background": c["bg"],
                **self.variables(),
            },
        )

    def variables(self) -> dict[str, str]:
        """The stylesheet variables of the tokens: `wg-bg`, `wg-alarm-ink`, ..."""
        return {f"wg-{token.replace('_', '-')}": color for token, color in self.colors.items()}


@lru_cache(maxsize=512)
def _style(
    palette: Palette, ink: Token, ground: Token | None, bold: bool, underline: bool, reverse: bool
) -> Style:
    """Returns the Rich style of a text in the colors of a palette.

    Args:
        palette: The colors by token.
        ink: The color of the letters.
        ground: The color behind them; None leaves the one that is there.
        bold: True for bold letters.
        underline: True for a line below them.
        reverse: True to swap both colors.
    """
    # Attributes are left unset instead of false: Rich then writes no codes for them.
    return Style(
        color=palette.colors[ink],
        bgcolor=palette.colors[ground] if ground else None,
        bold=bold or None,
        underline=underline or None,
        reverse=reverse or None,
    )


DARK = Palette(
    name="watchgate-dark",
    dark=True,
    colors={
        "bg": "#0f1115",
        "s1": "#171a21",
        "s2": "#21252f",
        "sel": "#2c2846",
        "fg": "#d8dbe2",
        "dim": "#939bab",
        "off": "#727a8b",
        "faint": "#59606f",
        "accent": "#b7a6ff",
        "low": "#8a93a6",
        "medium": "#56b4e9",
        "high": "#f0c419",
        "critical": "#ff6a3d",
        "alarm": "#b3261e",
        "alarm_ink": "#ffffff",
        "add": "#96dfd3",
        "add_ground": "#12302e",
        "del": "#f0afbd",
        "del_ground": "#3a212b",
    },
)

LIGHT = Palette(
    name="watchgate-light",
    dark=False,
    colors={
        "bg": "#fcfcfd",
        "s1": "#f0f1f5",
        "s2": "#e5e7ee",
        "sel": "#e9e4fd",
        "fg": "#1f232b",
        "dim": "#576072",
        "off": "#777f8e",
        "faint": "#a7adb9",
        "accent": "#5a3bc2",
        "low": "#5f6774",
        "medium": "#0668b5",
        "high": "#8a6000",
        "critical": "#b30f3b",
        "alarm": "#b3261e",
        "alarm_ink": "#ffffff",
        "add": "#0b4d44",
        "add_ground": "#d3f0ea",
        "del": "#861b33",
        "del_ground": "#fbdfe4",
    },
)

MONO = Palette(
    name="watchgate-mono",
    dark=True,
    colors={
        "bg": "#0e0e0e",
        "s1": "#1a1a1a",
        "s2": "#262626",
        "sel": "#3a3a3a",
        "fg": "#d6d6d6",
        "dim": "#989898",
        "off": "#767676",
        "faint": "#5f5f5f",
        "accent": "#ffffff",
        "low": "#989898",
        "medium": "#d6d6d6",
        "high": "#ffffff",
        "critical": "#ffffff",
        "alarm": "#ffffff",
        "alarm_ink": "#0e0e0e",
        "add": "#ffffff",
        "add_ground": "#262626",
        "del": "#989898",
        "del_ground": "#1a1a1a",
    },
)

BASES = (DARK, LIGHT, MONO)


DARK_256 = Palette(
    name="watchgate-dark-256",
    dark=True,
    colors={
        "bg": "#121212",
        "s1": "#1c1c1c",
        "s2": "#262626",
        "sel": "#303030",
        "fg": "#e0e0e0",
        "dim": "#9e9e9e",
        "off": "#808080",
        "faint": "#626262",
        "accent": "#afafff",
        "low": "#9e9e9e",
        "medium": "#5fafd7",
        "high": "#ffd700",
        "critical": "#ff875f",
        "alarm": "#af0000",
        "alarm_ink": "#ffffff",
        "add": "#afd7d7",
        "add_ground": "#005f5f",
        "del": "#ffafaf",
        "del_ground": "#5f0000",
    },
)

LIGHT_256 = Palette(
    name="watchgate-light-256",
    dark=False,
    colors={
        "bg": "#ffffff",
        "s1": "#f2f2f2",
        "s2": "#ebebeb",
        "sel": "#d7d7ff",
        "fg": "#1c1c1c",
        "dim": "#585858",
        "off": "#767676",
        "faint": "#a8a8a8",
        "accent": "#5f00af",
        "low": "#585858",
        "medium": "#005faf",
        "high": "#875f00",
        "critical": "#af005f",
        "alarm": "#af0000",
        "alarm_ink": "#ffffff",
        "add": "#005f5f",
        "add_ground": "#d7ffff",
        "del": "#87005f",
        "del_ground": "#ffd7d7",
    },
)

DARK_16 = Palette(
    name="watchgate-dark-16",
    dark=True,
    flat=True,
    colors={
        "bg": "#000000",
        "s1": "#000000",
        "s2": "#000000",
        "sel": "#0000aa",
        "fg": "#ffffff",
        "dim": "#aaaaaa",
        "off": "#aaaaaa",
        "faint": "#555555",
        "accent": "#ff55ff",
        "low": "#aaaaaa",
        "medium": "#55ffff",
        "high": "#ffff55",
        "critical": "#ff5555",
        "alarm": "#aa0000",
        "alarm_ink": "#ffffff",
        "add": "#55ffff",
        "add_ground": "#000000",
        "del": "#ff55ff",
        "del_ground": "#000000",
    },
)

LIGHT_16 = Palette(
    name="watchgate-light-16",
    dark=False,
    flat=True,
    colors={
        "bg": "#ffffff",
        "s1": "#ffffff",
        "s2": "#ffffff",
        "sel": "#aaaaaa",
        "fg": "#000000",
        "dim": "#555555",
        "off": "#555555",
        "faint": "#aaaaaa",
        "accent": "#aa00aa",
        "low": "#555555",
        "medium": "#0000aa",
        "high": "#aa5500",
        "critical": "#aa0000",
        "alarm": "#aa0000",
        "alarm_ink": "#ffffff",
        "add": "#0000aa",
        "add_ground": "#ffffff",
        "del": "#aa00aa",
        "del_ground": "#ffffff",
    },
)

MONO_16 = msgspec.structs.replace(
    MONO,
    name="watchgate-mono-16",
    flat=True,
    colors=MONO.colors
    | {"bg": "#000000", "s1": "#000000", "s2": "#000000", "sel": "#555555", "off": "#aaaaaa"}
    | {"alarm_ink": "#000000"},
)

DEPTHS: dict[str, dict[str, Palette]] = {
    "256": {DARK.name: DARK_256, LIGHT.name: LIGHT_256},
    "standard": {DARK.name: DARK_16, LIGHT.name: LIGHT_16, MONO.name: MONO_16},
}
"""For each number of colours that is too few: what stands in for a theme."""


PALETTES = {
    each.name: each for each in (*BASES, *(p for few in DEPTHS.values() for p in few.values()))
}

NAMES: dict[str, Palette] = {
    "dark": DARK,
    "light": LIGHT,
    "mono": MONO,
    "textual-dark": DARK,
    "textual-light": LIGHT,
}
"""The words that `[ui] theme` may hold."""


def palette(theme: str) -> Palette:
    """The palette of the theme that an app shows; any theme that is not ours is drawn as dark."""
    return PALETTES.get(theme, DARK)


def fitted(chosen: Palette, colors: str | None) -> Palette:
    """The palette that stands in for a chosen one where there are only so many colours.

    `colors` is the terminal's colour system as Rich names it.
    """
    return DEPTHS.get(colors or "", {}).get(chosen.name, chosen)


RISK_GLYPH: dict[str, str] = {
    "low": ".",
    "medium": "!",
    "high": "!!",
    "critical": "!!!",
    "unknown": "!!",
}

RISK_TOKEN: dict[str, Token] = {
    "low": "low",
    "medium": "medium",
    "high": "high",
    "critical": "critical",
    "unknown": "high",
}

RISK_RANK: dict[str, int] = {"low": 0, "medium": 1, "unknown": 2, "high": 2, "critical": 3}
