"""Who steps the physics: the engine contract and its implementations."""
