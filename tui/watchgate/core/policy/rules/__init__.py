"""Rules in force: loaded from files, compiled, and indexed by the programs they are about.

Texts of policy files come in, a `Policy` goes out; `profiles` turns an assessment into what the
gate does. It imports matching and what lies below it.
"""
