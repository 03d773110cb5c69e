"""perf-gate: tells reviewers whether a pull request to lib/zephyr makes the data pipelines slower, before it merges."""
