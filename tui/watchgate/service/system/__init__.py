"""The system below a core: files, clocks, processes, limits and the own directories.

It imports nothing else of the service.
"""
