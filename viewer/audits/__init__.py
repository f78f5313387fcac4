"""A user's own contact code against the truth: its inputs, the situations in which it is wrong, and specific causes."""
