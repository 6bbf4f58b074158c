"""What a pending call would touch, found by looking only: nothing of the call is ever run."""
