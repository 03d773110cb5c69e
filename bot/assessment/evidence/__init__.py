"""What a change does to shuffle, memory, cpu and design: facts of both sides, what differs, and what that means."""
