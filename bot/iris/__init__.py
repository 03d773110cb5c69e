"""Iris: submit a ferry, look it up, watch it, collect its perf report, stop it. Over HTTP or the iris command line."""
