"""The colour tokens: their contrasts are what the table of the design promises."""

from __future__ import annotations

from itertools import combinations

import pytest
from rich.color import Color, ColorSystem

from tests.ui.colour_vision import EYES, distance
from watchgate.ui.base.theme import (
    BASES,
    DARK,
    DARK_16,
    DARK_256,
    LIGHT,
    LIGHT_16,
    LIGHT_256,
    MONO,
    MONO_16,
    NAMES,
    PALETTES,
    Palette,
    Token,
    fitted,
    palette,
)

SURFACES: tuple[Token, ...] = ("bg", "s1", "s2", "sel")
RISKS: tuple[Token, ...] = ("low", "medium", "high", "critical")
READ: tuple[Token, ...] = ("fg", "dim", "accent", "low", "medium", "high", "critical")


def luminance(color: str) -> float:
    """The relative luminance of `#rrggbb` as WCAG 2 defines it."""
    parts = [int(color[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    """The contrast ratio of two colours."""
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("theme", [DARK, LIGHT], ids=lambda theme: theme.name)
@pytest.mark.parametrize("ink", READ)
def test_what_is_read_stands_out_on_every_surface(theme: Palette, ink: Token) -> None:
    worst = min(contrast(theme.colors[ink], theme.colors[surface]) for surface in SURFACES)
    assert worst >= 4.5


@pytest.mark.parametrize("theme", [DARK, LIGHT], ids=lambda theme: theme.name)
def test_disabled_keys_can_still_be_read(theme: Palette) -> None:
    worst = min(contrast(theme.colors["off"], theme.colors[surface]) for surface in SURFACES)
    assert worst >= 3.2


@pytest.mark.parametrize("theme", [DARK, LIGHT, MONO], ids=lambda theme: theme.name)
@pytest.mark.parametrize(
    ("ink", "ground"),
    [("alarm_ink", "alarm"), ("bg", "critical"), ("add", "add_ground"), ("del", "del_ground")],
)
def test_fills_carry_their_ink(theme: Palette, ink: Token, ground: Token) -> None:
    assert contrast(theme.colors[ink], theme.colors[ground]) >= 4.5


@pytest.mark.parametrize("theme", [DARK, LIGHT], ids=lambda theme: theme.name)
@pytest.mark.parametrize("eyes", EYES)
def test_risks_are_told_apart_by_every_kind_of_eyes(theme: Palette, eyes: str) -> None:
    colors = theme.colors
    apart = {
        (one, other): distance(colors[one], colors[other], EYES[eyes])
        for one, other in combinations(RISKS, 2)
    }
    assert min(apart.values()) >= 20, apart


@pytest.mark.parametrize("theme", [DARK, LIGHT], ids=lambda theme: theme.name)
@pytest.mark.parametrize("eyes", EYES)
def test_the_colour_of_keys_is_no_risk(theme: Palette, eyes: str) -> None:
    """6 is what deutan eyes get on dark: no risk cell ever holds the accent, so that is enough."""
    accent = theme.colors["accent"]
    assert min(distance(accent, theme.colors[risk], EYES[eyes]) for risk in RISKS) >= 6


@pytest.mark.parametrize("theme", [DARK, LIGHT], ids=lambda theme: theme.name)
@pytest.mark.parametrize("eyes", EYES)
def test_what_came_and_went_lies_on_its_own_ground_or_carries_its_sign(
    theme: Palette, eyes: str
) -> None:
    """Lines of a diff are alike to some eyes, which is why every one begins with its sign."""
    colors = theme.colors
    assert distance(colors["add"], colors["add_ground"], EYES[eyes]) >= 40
    assert distance(colors["del"], colors["del_ground"], EYES[eyes]) >= 40


def test_without_colours_critical_is_brighter_than_plain_text() -> None:
    ground = MONO.colors["bg"]
    assert contrast(MONO.colors["critical"], ground) > contrast(MONO.colors["fg"], ground)


def test_every_theme_has_every_token() -> None:
    assert len({tuple(sorted(each.colors)) for each in PALETTES.values()}) == 1


def test_the_words_of_the_configuration_name_our_themes() -> None:
    assert set(NAMES.values()) == set(BASES)
    assert {each.name for each in BASES} < set(PALETTES)
    assert palette("some-other-theme") is DARK


@pytest.mark.parametrize("theme", [DARK_256, LIGHT_256], ids=lambda theme: theme.name)
def test_with_256_colours_surfaces_differ_and_what_is_read_stands_out(theme: Palette) -> None:
    def shown(token: Token) -> str:
        nearest = Color.parse(theme.colors[token]).downgrade(ColorSystem.EIGHT_BIT)
        return nearest.get_truecolor().hex

    grounds = {shown(surface) for surface in SURFACES}
    assert len(grounds) == len(SURFACES)
    assert min(contrast(shown(ink), ground) for ink in READ for ground in grounds) >= 4


@pytest.mark.parametrize("theme", [DARK_16, LIGHT_16, MONO_16], ids=lambda theme: theme.name)
def test_with_16_colours_surfaces_are_given_up_and_the_cursor_row_is_not(theme: Palette) -> None:
    def shown(token: Token) -> int | None:
        return Color.parse(theme.colors[token]).downgrade(ColorSystem.STANDARD).number

    assert theme.flat
    assert shown("bg") == shown("s1") != shown("sel")
    inks: tuple[Token, ...] = ("fg", "dim", "off", "accent", *RISKS)
    assert all(shown(ink) not in (shown("bg"), shown("sel")) for ink in inks)


def test_a_terminal_gets_the_theme_that_its_colours_can_show() -> None:
    assert fitted(DARK, "truecolor") is DARK
    assert fitted(DARK, "256") is DARK_256
    assert fitted(LIGHT, "standard") is LIGHT_16
    assert fitted(MONO, "256") is MONO
    assert fitted(DARK, None) is DARK


def test_a_style_never_blinks_and_leaves_unset_what_is_not_asked_for() -> None:
    style = DARK.style("dim", "s1", bold=True)
    assert (style.bold, style.italic, style.blink) == (True, None, None)
    assert DARK.style("dim", "s1", bold=True) is style
