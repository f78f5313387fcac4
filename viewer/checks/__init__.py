"""Rules for contacts: a scene, or a short run of it, to findings, with fixes that were tried."""
