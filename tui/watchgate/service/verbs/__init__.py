"""What each verb of the control protocol does; a refusal changes nothing."""
