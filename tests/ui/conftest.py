"""The registry hands its keys to whatever names them, so that a pane can be drawn alone."""

import watchgate.ui.commands.key_registry  # noqa: F401 - loading it is what counts
