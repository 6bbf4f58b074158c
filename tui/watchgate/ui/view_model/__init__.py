"""The frozen picture of one moment, from which everything on the screen is drawn.

A state, a link and the operator's position come in, plain values go out. It imports notifications,
approval, fleet, costs and what lies below them.
"""
