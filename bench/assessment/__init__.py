"""How good is the assessment? Measured against labelled diffs."""
