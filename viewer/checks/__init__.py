"""Rules that find problems with contacts in a scene or in a short run of it, with fixes that were tried."""
