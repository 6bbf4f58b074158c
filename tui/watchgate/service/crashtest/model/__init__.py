"""A model on loopback that plays a script over the wires that agents speak."""
