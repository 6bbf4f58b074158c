"""The parts of the Traces screen."""
