"""Scene files: checked, compiled, watched, changed."""
