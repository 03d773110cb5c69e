"""How often is the verdict wrong? Simulated on the noise that the real gate has on record."""
