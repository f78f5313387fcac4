"""Ours and a peer, measured on the same work in one run."""
