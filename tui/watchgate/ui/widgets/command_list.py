"""The command palette: type a part of a command, its key or what it does; Enter runs it."""

from __future__ import annotations

from textual import events
from textual.message import Message

from watchgate.ui.keys.keymap import Context, Group, Key, Keymap, name_of
from watchgate.ui.widgets.base.pane import Pane, StyledLine
from watchgate.ui.widgets.prompts.prompt import KeyPassed

HEAD = 3
GROUPS: tuple[Group, ...] = ("leave", "other", "palette", "look", "move", "find", "decide")
NO_COMMANDS = ("back", "commands")
NAME, HELP = 2, 16
KEY_CELLS = 12
_STEPS = {"down": 1, "tab": 1, "up": -1, "shift+tab": -1, "pagedown": 1, "pageup": -1}
_NOT = 9


class CommandList(Pane):
    """The typed text, and below it the commands that have it in name, key or help.

    A command that does nothing now says why instead of what it does. Decisions are listed to be
    found, but only their own keys make them: nobody decides from a list. What plays a recording is
    listed in a replay alone.
    """

    DEFAULT_CSS = "CommandList { height: 1fr; }"

    can_focus = True

    class Chosen(Message):
        """A command to run after the list has closed."""

        def __init__(self, action: str) -> None:
            super().__init__()
            self.action = action

    class Left(Message):
        """The list is to be closed, nothing run."""

    def __init__(self, keymap: Keymap, context: Context) -> None:
        super().__init__()
        groups = ("replay", *GROUPS) if context.replay else GROUPS
        self._keys = [
            key for group in groups for key in keymap.group(group) if key.id not in NO_COMMANDS
        ]
        self._moment = context
        self._typed = ""
        self._place = 0
        self._over = False

    def on_key(self, event: events.Key) -> None:
        event.stop()
        event.prevent_default()
        if self._over:
            self.post_message(KeyPassed(event))
            return
        name = name_of(event)
        if name in ("escape", "ctrl+c"):
            self._over = True
            self.post_message(self.Left())
        elif name == "enter":
            if matches := self._matches():
                self._over = True
                self.post_message(self.Chosen(matches[min(self._place, len(matches) - 1)].id))
        elif name in _STEPS:
            last = max(0, len(self._matches()) - 1)
            by = _STEPS[name] * (max(1, self.size.height - HEAD) if "page" in name else 1)
            self._place = min(max(0, self._place + by), last)
        elif name == "backspace":
            self._typed, self._place = self._typed[:-1], 0
        elif event.is_printable and event.character:
            self._typed, self._place = (self._typed + event.character).lstrip(" :"), 0
        self.redraw()

    def on_paste(self, event: events.Paste) -> None:
        event.stop()

    def draw(self, cells: int, rows: int) -> list[StyledLine]:
        head = self.line("s2").add("  :", "accent", bold=True).add(self._typed)
        head.add(" ", "bg", on="accent")
        if not self._typed:
            head.fit("  type a part of a command, Enter runs it", cells - 6, "dim")
        lines = [self.line(), head, self.line()]
        matches = self._matches()
        room = max(1, rows - HEAD)
        first = max(0, self._place - room + 1)
        for number, key in enumerate(matches[first : first + room], start=first):
            lines.append(self._entry(key, cells, chosen=number == self._place))
        if not matches:
            lines.append(self.line().add("  no command has that in its name", "dim"))
        return lines

    def _entry(self, key: Key, cells: int, *, chosen: bool) -> StyledLine:
        reason = self._why_not(key)
        line = self.line("sel" if chosen else "bg")
        line.add("> " if chosen else "  ", "accent", bold=True)
        line.add(key.id.replace("_", "-"), "off" if reason else "fg", bold=not reason).to(HELP)
        words = key.help
        if reason:
            words = reason if reason.startswith(key.help) else f"{key.help}: {reason}"
        line.fit(words, max(8, cells - HELP - KEY_CELLS), "off" if reason else "dim")
        return line.right(f"{key.shown} " if key.keys else " ", "off" if reason else "accent")

    def _why_not(self, key: Key) -> str | None:
        if key.group == "decide":
            return "only its key decides, where the request is shown"
        return key.reason(self._moment)

    def _matches(self) -> list[Key]:
        typed = self._typed.casefold().strip()
        if not typed:
            return self._keys
        ranked = ((_rank(key, typed, self._typed.strip()), key) for key in self._keys)
        return [key for rank, key in sorted(ranked, key=lambda each: each[0]) if rank < _NOT]


def _rank(key: Key, typed: str, exact: str) -> int:
    """Ranks how well the typed text means a key: the lower the better, `_NOT` where it does not."""
    name = key.id.replace("_", " ")
    sought = typed.replace("_", " ").replace("-", " ")
    tests = (
        sought in (name, key.also),
        exact in key.keys or f":{sought}" == key.shown,
        name.startswith(sought),
        bool(key.also) and key.also.startswith(sought),
        any(word.startswith(sought) for word in name.split()),
        sought in name,
        sought in key.help.casefold() or sought in key.does.casefold(),
        len(sought) > 1 and _spread(sought, name),
    )
    return next((rank for rank, true in enumerate(tests) if true), _NOT)


def _spread(sought: str, text: str) -> bool:
    """Returns whether the letters are all there in their order: `gof` means `gate off`."""
    left = iter(text)
    return all(letter in left for letter in sought if letter != " ")
