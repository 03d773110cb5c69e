"""Triviality as proof: named rules, each sound by itself, and the equality of what they leave."""
