"""The prompts above the dock, which ask something of the operator."""
