"""Several cores as one source: their sessions named by host, their clocks turned into ours.

Each host's records come in, read with distrust; one numbering of all goes out. It imports source
and base.
"""
