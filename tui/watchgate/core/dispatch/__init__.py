"""The one dispatch loop over the handlers of an event, as a machine without I/O.

Events and handlers' reports come in, orders to run or stop handlers and an `Outcome` go out.
`presets` is all in which one hook system differs from another; `hooks/` are the protocols of
commands, `extensions/` those of processes that stay. It imports tools, model and base.
"""
