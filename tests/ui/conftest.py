"""What a console has once it runs: the keys that panes name, and the titles of agents."""

from __future__ import annotations

import watchgate.ui.commands.key_registry  # noqa: F401 - loading it hands the keys over
from watchgate.agents.registry import ADAPTERS, agent_titles
from watchgate.agents.streams import STREAM_TITLES
from watchgate.ui.source.agent_titles import use_titles

use_titles(STREAM_TITLES | agent_titles(ADAPTERS.values()))
