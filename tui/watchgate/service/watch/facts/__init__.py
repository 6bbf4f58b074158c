"""Facts about what a pending call would touch, from looking only: nothing of it is ever run."""
