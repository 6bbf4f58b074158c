"""The prompts that unlock this terminal: by a PIN, by a code, or by touching the security key."""

from __future__ import annotations

from watchgate.link.touching import TOUCH
from watchgate.ui.widgets.pane import Line
from watchgate.ui.widgets.prompts.awaiting_prompt import AwaitingPrompt


class TouchPrompt(AwaitingPrompt):
    """A prompt until the security key was touched."""

    def draw_first(self, cells: int) -> Line:
        return self.line().add(f"  unlock this terminal: {TOUCH}", bold=True)
