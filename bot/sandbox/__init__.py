"""The cage for code nobody has reviewed yet, the preflight that runs in it, and the cage of the submitting client."""
