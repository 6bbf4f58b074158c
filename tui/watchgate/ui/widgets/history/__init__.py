"""The parts of the History screen."""
