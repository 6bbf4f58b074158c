"""The list of every command: type a part of its name, Enter runs it."""

from __future__ import annotations

from textual import events
from textual.message import Message

from watchgate.ui.keymap import Context, Group, Key, Keymap, name_of
from watchgate.ui.widgets.pane import Line, Pane

HEAD = 3
GROUPS: tuple[Group, ...] = ("leave", "other", "look", "move", "find")
NO_COMMANDS = ("back", "commands", "down", "up", "page_down", "page_up")


class CommandList(Pane):
    """What was typed, and below it the commands that have it in their name or their help."""

    DEFAULT_CSS = "CommandList { height: 1fr; }"

    can_focus = True

    class Chosen(Message):
        """A command is to be run, after the list has closed."""

        def __init__(self, action: str) -> None:
            super().__init__()
            self.action = action

    class Left(Message):
        """The list is to be closed, nothing run."""

    def __init__(self, keymap: Keymap, context: Context) -> None:
        super().__init__()
        self._keys = [
            key for group in GROUPS for key in keymap.group(group) if key.id not in NO_COMMANDS
        ]
        self._moment = context
        self._typed = ""
        self._place = 0

    def on_key(self, event: events.Key) -> None:
        event.stop()
        event.prevent_default()
        name = name_of(event)
        if name in ("escape", "ctrl+c"):
            self.post_message(self.Left())
        elif name == "enter":
            found = self._found()
            if found:
                self.post_message(self.Chosen(found[min(self._place, len(found) - 1)].id))
        elif name in ("down", "tab", "up", "shift+tab"):
            self._place += 1 if name in ("down", "tab") else -1
            self._place = min(max(0, self._place), max(0, len(self._found()) - 1))
        elif name == "backspace":
            self._typed, self._place = self._typed[:-1], 0
        elif event.is_printable and event.character:
            self._typed, self._place = (self._typed + event.character).lstrip(" :"), 0
        self.redraw()

    def draw(self, cells: int, rows: int) -> list[Line]:
        head = self.line("s2").add("  :", "accent", bold=True).add(self._typed)
        head.add(" ", "bg", on="accent")
        if not self._typed:
            head.add("  type a part of a command, Enter runs it", "dim")
        lines = [self.line(), head, self.line()]
        found = self._found()
        room = max(1, rows - HEAD)
        first = max(0, self._place - room + 1)
        for number, key in enumerate(found[first : first + room], start=first):
            lines.append(self._entry(key, cells, chosen=number == self._place))
        if not found:
            lines.append(self.line().add("  no command has that in its name", "dim"))
        return lines

    def _entry(self, key: Key, cells: int, *, chosen: bool) -> Line:
        reason = key.why_not(self._moment)
        line = self.line("sel" if chosen else "bg")
        line.add("> " if chosen else "  ", "accent", bold=True)
        line.add(key.id.replace("_", "-"), "off" if reason else "fg", bold=not reason).to(16)
        line.fit(reason or key.help, max(8, cells - 30), "off" if reason else "dim")
        return line.right(f"{key.shown} " if key.keys else " ", "off" if reason else "accent")

    def _found(self) -> list[Key]:
        typed = self._typed.lower().replace("-", "_")
        named = [key for key in self._keys if key.id.startswith(typed)]
        if typed:
            named += [k for k in self._keys if k not in named and k.also.startswith(typed)]
        words = [key for key in self._keys if key not in named and typed in key.id]
        helped = [k for k in self._keys if k not in named + words and typed in k.help.lower()]
        return [*named, *words, *helped]
