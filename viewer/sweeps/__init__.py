"""Many runs: one pure task, local workers, Ray, the report."""
