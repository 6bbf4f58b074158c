"""Permission rules of agents, read and written down as rules of ours."""
