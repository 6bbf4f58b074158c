"""Standing grants: an operator's allow that also answers calls to come."""
