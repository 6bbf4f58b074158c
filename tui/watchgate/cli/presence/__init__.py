"""How a person proves to be there, and a program to be registered: `pin`, `unlock`, `token`.

A PIN or a token is never an argument: it is typed without being shown, or read from a file or
variable of the program's own.
"""
