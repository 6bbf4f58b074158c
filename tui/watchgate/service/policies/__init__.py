"""The policies in force: the shipped files, and those of admin, user and project.

Folders come in, compiled policies go out; files that others may write are refused. It imports
system.
"""
