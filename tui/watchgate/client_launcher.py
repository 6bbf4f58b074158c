"""Starts the installed hook client, which lies beside it as watchgate_client.py.

CPython caches the bytecode of what is imported, never that of the script it is given: without this
file it would compile the whole client at every tool call, at a quarter of what the start costs.
"""

import sys

if __name__ == "__main__":
    # Appended, so that no file there can stand in for a module of the standard library.
    sys.path.append(__file__.rpartition("/")[0])
    # No import statement: the name exists only where the two are installed, not in the package.
    __import__("watchgate_client").main()
