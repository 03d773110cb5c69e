"""Ferries on a real local Iris, from a reviewer's comment to how they end."""
