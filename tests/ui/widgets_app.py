"""A bare app around one widget, and what of it reaches the screen."""

from __future__ import annotations

from textual.app import App, ComposeResult
from textual.strip import Strip
from textual.widget import Widget

from watchgate.ui.base.theme import DARK, PALETTES


class Stage(App[None]):
    """Shows one widget in the console's colours."""

    ENABLE_COMMAND_PALETTE = False
    CSS = "Screen { background: $wg-bg; }"

    def __init__(self, *widgets: Widget) -> None:
        super().__init__()
        self._widgets = widgets
        for palette in PALETTES.values():
            self.register_theme(palette.theme())
        self.theme = DARK.name

    def get_theme_variable_defaults(self) -> dict[str, str]:
        """The console's own tokens."""
        return DARK.variables()

    def compose(self) -> ComposeResult:
        """The widgets, one below the other."""
        yield from self._widgets


def strips(widget: Widget) -> list[Strip]:
    """The widget's lines as they are drawn now."""
    return [widget.render_line(y) for y in range(widget.size.height)]


def texts(widget: Widget) -> list[str]:
    """The widget's lines as a reader sees them."""
    return [strip.text.rstrip() for strip in strips(widget)]
