"""The console: the only place that imports textual. It reaches a core through `link` alone."""
