"""The core's host: everything that holds a descriptor."""
