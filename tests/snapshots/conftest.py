"""The titles of agents, which a console has from its core."""

from __future__ import annotations

from watchgate.agents.registry import agent_titles
from watchgate.ui.source.agent_titles import use_titles

use_titles(agent_titles())
