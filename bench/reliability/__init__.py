"""Is anything lost, or done twice? A kill matrix against the real process, and storms of faults on injected time."""
