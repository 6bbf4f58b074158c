"""The configuration: `config.toml` becomes a `Config`, or an error that says how to mend it.

A text comes in; settings, handlers, sinks and the origin of each key go out. A key is acted on or
refused. It imports dispatch, policy and what lies below them.
"""
