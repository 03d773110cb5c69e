"""The engine on PostgreSQL and procrastinate 3: the shell for several processes.

Nothing outside imports this package unless a database's address is set: its libraries are an extra
(`postgres` in pyproject.toml) and slow to import.

What holds in the whole deployment, however many processes: a delivery is accepted and handled once; one transition of
an aggregate at a time; lanes with their limits; slots; the order of a narrow lane; single flight of what coalesces.
What each process has for itself: its clock, the spacing its adapters keep between writes to GitHub, mirrors and trees
on its disk (performers make again what they miss, or the processes share the folder).
"""

from bot.engine.postgres.engine import PostgresEngine
from bot.engine.postgres.presence import Pulse

__all__ = ["PostgresEngine", "Pulse"]
