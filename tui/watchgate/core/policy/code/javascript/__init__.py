"""JavaScript as `node -e`, `bun -e` and `deno eval` are given it.

A text comes in, a `CodeReading` goes out: the shell commands that do the same, or the reason why it
is not understood. Only `javascript_tree` knows the parser. It imports `code_reading`, shell and
base.
"""
