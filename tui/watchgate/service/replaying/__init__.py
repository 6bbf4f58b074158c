"""Decides a recording again: its events go through the live path with a virtual clock.

Records come in, the differences between both runs go out. It imports hub, runners and what lies
below them.
"""
