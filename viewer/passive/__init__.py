"""The viewer inside a user's own program."""
