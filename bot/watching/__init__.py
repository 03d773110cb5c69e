"""How a ferry is doing: what one look saw, what that means beside the looks before it, and when it may end. Pure."""
