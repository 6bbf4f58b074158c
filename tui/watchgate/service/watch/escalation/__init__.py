"""Notifies somebody elsewhere of a request that nobody answers.

Open requests come in, messages and records of them go out.
"""
