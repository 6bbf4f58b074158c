"""The parts of the Costs screen."""
