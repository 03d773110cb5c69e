"""Numbers for whoever watches many bots: counted as things happen, read from the state when Prometheus asks."""
