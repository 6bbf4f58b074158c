"""What each model cost in some days, the dearest first."""

from __future__ import annotations

from watchgate.ui.costs.figures import WEEK, WINDOW_WORDS, Costs
from watchgate.ui.costs.sums import dollars
from watchgate.ui.formats import count
from watchgate.ui.theming.palettes import Token
from watchgate.ui.widgets.costs.words import bar, model_name
from watchgate.ui.widgets.pane import Line, Pane

COST_END, BAR, LONGEST = 30, 32, 14


class CostModels(Pane):
    """One line per model with its cost and a bar beside the dearest one's."""

    DEFAULT_CSS = "CostModels { height: auto; }"

    def __init__(self) -> None:
        super().__init__()
        self._costs: Costs | None = None
        self._stale = False

    def show(self, costs: Costs, *, stale: bool = False) -> None:
        """Show these figures."""
        if (costs, stale) != (self._costs, self._stale):
            self._costs, self._stale = costs, stale
            self.redraw()

    def lines_wanted(self, *, airy: bool) -> int:
        """The lines that all models take."""
        models = len(self._costs.models) if self._costs is not None else 0
        return models + (2 if airy else 1)

    def draw(self, cells: int, rows: int) -> list[Line]:
        costs = self._costs
        if costs is None or not costs.models or rows < 2:
            return []
        quiet: Token = "off" if self._stale else "dim"
        days = WINDOW_WORDS[max(costs.window, WEEK)]
        lines = [self.line().to(2).add(f"by model, {days}", quiet)]
        if rows >= len(costs.models) + 2:
            lines.append(self.line())
        room = rows - len(lines)
        fit = costs.models if len(costs.models) <= room else costs.models[: room - 1]
        dearest = max((model.cost or 0 for model in costs.models), default=0)
        for model in fit:
            known = bool(model.name)
            ink: Token = quiet if self._stale or not known else "fg"
            cost = dollars(model.cost)
            line = self.line().to(2)
            line.fit(model_name(model.name, model.agent), COST_END - len(cost) - 3, ink)
            line.to(COST_END - len(cost)).add(cost, ink, bold=model.cost is not None)
            if model.cost:
                bar(line.to(BAR), model.cost / dearest, LONGEST, "off" if self._stale else "accent")
            lines.append(line)
        if len(fit) < len(costs.models):
            left = len(costs.models) - len(fit)
            lines.append(self.line().to(2).add(f"{count(left)} more", quiet))
        return lines
