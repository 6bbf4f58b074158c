"""CodeWhale's HookEvents: the events of its sinks, one struct for each variant.

An unset optional field is null and never left out. Phases are open: those that are documented
(`start`, `end`) differ from those that are sent (`precheck`, `completed`), so any text is one.
Source of the shapes: crates/hooks of Hmbown/CodeWhale, head of 2026-08-20.
"""
