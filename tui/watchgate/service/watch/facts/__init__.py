"""Facts about what a pending call would touch, from looking only: nothing of it is ever run.

A new request comes in, a record of its facts goes out.
"""
