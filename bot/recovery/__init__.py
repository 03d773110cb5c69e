"""What webhooks failed to tell: asked for again, or found by looking."""
