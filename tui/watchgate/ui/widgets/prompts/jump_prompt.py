"""Jump labels: a letter at every line that can be gone to, and the prompt that reads one."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass

from textual import events
from textual.message import Message

from watchgate.ui.keys.jump_labels import LETTERS, Jump, Labels
from watchgate.ui.keys.keymap import Hint, name_of
from watchgate.ui.widgets.base.pane import Pane, StyledLine
from watchgate.ui.widgets.prompts.prompt import Prompt, hint


class JumpLabel(Pane):
    """The letters over the cells where a line begins; those that were typed already are dim."""

    DEFAULT_CSS = "JumpLabel { layer: over; position: absolute; width: 2; height: 1; }"

    ground = "sel"

    def __init__(self, label: str) -> None:
        super().__init__()
        self.label = label
        self._typed = 0
        self.styles.width = len(label)

    def show(self, typed: str) -> None:
        """Shows how much of it was typed; hides it where something else was."""
        self.display = self.label.startswith(typed)
        if self._typed != len(typed):
            self._typed = len(typed)
            self.redraw()

    def place(self, x: int, y: int) -> None:
        """Moves it to this cell of the screen."""
        self.styles.offset = (x, y)

    def draw(self, cells: int, rows: int) -> list[StyledLine]:
        line = self.line().add(self.label[: self._typed], "dim")
        return [line.add(self.label[self._typed :], "accent", bold=True)]


class JumpPrompt(Prompt):
    """Takes every key while the labels are shown: a label goes there, any other key only leaves.

    `jumps` are the lines that are visible now. A label goes to the line that it was drawn on, or
    nowhere: it moves with its line, and goes away with it.
    """

    DEFAULT_CSS = "JumpPrompt { height: 0; }"

    @dataclass
    class Left(Message):
        """The labels are to go away; `go` carries out the chosen jump, if there is one."""

        go: Callable[[], None] | None = None

    def __init__(self, jumps: Callable[[], Sequence[Jump]]) -> None:
        super().__init__()
        self._jumps = jumps
        self._there: dict[Hashable, tuple[JumpLabel, Jump]] = {}
        self._labels = Labels(len(jumps()))
        self._typed = ""

    @property
    def hints(self) -> Sequence[Hint]:
        return (hint("a letter", "goes to its line"), hint("Esc", "leave"))

    def on_mount(self) -> None:
        self._lay()

    def on_unmount(self) -> None:
        for label, _ in self._there.values():
            label.call_later(label.remove)

    def shown(self) -> None:
        if self.is_mounted and not self._lay():
            self.post_message(self.Left())

    def on_resize(self) -> None:
        self.call_after_refresh(self.shown)

    def on_key(self, event: events.Key) -> None:
        event.stop()
        event.prevent_default()
        typed = self._typed + name_of(event)
        labels = {label.label: jump for label, jump in self._there.values()}
        if typed in labels:
            self.post_message(self.Left(labels[typed].go))
        elif any(label.startswith(typed) for label in labels) and set(typed) <= set(LETTERS):
            self._typed = typed
            for label, _ in self._there.values():
                label.show(typed)
        else:
            self.post_message(self.Left())

    def on_paste(self, event: events.Paste) -> None:
        event.stop()
        self.post_message(self.Left())

    def draw(self, cells: int, rows: int) -> list[StyledLine]:
        return []

    def _lay(self) -> bool:
        """Puts every label where its line is now; returns whether there is any."""
        now = {jump.of: jump for jump in self._jumps()}
        for gone in [of for of in self._there if of not in now]:
            label, _ = self._there.pop(gone)
            label.call_later(label.remove)
        new = []
        for of, jump in now.items():
            if of in self._there:
                label, _ = self._there[of]
            else:
                text = self._labels.of(of)
                if not text:
                    continue
                label = JumpLabel(text)
                label.show(self._typed)
                new.append(label)
            label.place(jump.x, jump.y)
            self._there[of] = (label, jump)
        if new:
            self.call_later(self.screen.mount, *new)
        return bool(self._there)
