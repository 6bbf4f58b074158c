"""The console: the only place that imports textual.

The standing of this terminal with its core, and the ways to unlock it.

What comes in is the core's answer to `presence`, a decision that it refused as locked, and the keys
of a prompt; what goes out is `unlock`. Nothing here decides about a request.

The terminal below the console: how its end is noticed, and does not hold the console up.
"""
