"""The same themes for terminals that have fewer colours.

Brought down to 256 colours, all dark surfaces are one black and the light ones one white, so these
are chosen by what Rich makes of them there. With 16 colours surfaces are given up, and what is
disabled is only told by its words: no grey is left that could be read on the cursor's row as well.
"""

from __future__ import annotations

import msgspec

from watchgate.ui.theming.palettes import DARK, LIGHT, MONO, Palette

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
