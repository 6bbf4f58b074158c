"""Several cores as one."""
