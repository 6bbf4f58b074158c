"""What is asked of the operator above the dock."""
