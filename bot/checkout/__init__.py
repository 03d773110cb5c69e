"""The mirror clone of a repository, and the pinned trees made from it. No git command ever runs inside such a tree."""
