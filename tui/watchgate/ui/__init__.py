"""The console: the only place that imports textual."""
