"""MuJoCo: its steps, their history, and what its models and contacts say."""
