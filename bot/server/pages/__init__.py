"""What people read in a browser: what runs, the life of a run, a tier's history. Read-only, drawn on the server."""
