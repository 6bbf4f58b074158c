"""The prompts above the dock, which ask something of the operator.

Requests and keys come in, lines and what the operator wants done go out. It imports the widgets'
base, approval, keys, source, link, and the filters, gate and what lies below them in the core.
"""
