"""Whether a treatment is launched as its baseline was: the tier workflow's `iris job run` beside the gate's config."""
