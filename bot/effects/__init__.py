"""One file per kind of effect: it acts through the adapters and returns the event that tells how it went.

Every performer looks before it does, so that it may be repeated after a crash at any point.
"""
