"""How fast and how small `perf-gate serve` is, beside Probot."""
