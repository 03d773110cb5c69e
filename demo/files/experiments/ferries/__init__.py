"""Ferries: end-to-end runs of the data pipelines at a small scale."""
