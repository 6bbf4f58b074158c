"""The colours of the console: tokens with checked contrasts, for dark, light and mono terminals.

Tokens are the only colours there are, so that a theme can be judged as one table.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Literal

import msgspec
from rich.style import Style
from textual.theme import Theme

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
        """The style of a segment: ink on ground (None keeps what is below), never blinking."""
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
