"""What a test or a demo can make happen on this GitHub, one file per concern; `Simulator` has them all."""
