"""Physics engines: their contract and its implementations."""
