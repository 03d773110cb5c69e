"""The engine on SQLite."""

from bot.engine.sqlite.engine import SqliteEngine

__all__ = ["SqliteEngine"]
