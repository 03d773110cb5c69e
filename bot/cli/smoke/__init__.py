"""`perf-gate doctor --smoke`: a small job goes the way of a ferry, and the link that breaks is named."""
