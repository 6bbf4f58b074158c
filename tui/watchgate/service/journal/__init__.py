"""The journal: one file of records, its writer, its readers, retention and verification.

Sealed rows come in, records and verdicts go out. It imports system.
"""
