"""How a running engine is spoken to by a command beside it."""

from __future__ import annotations

import signal

REVIVE_SIGNAL = signal.SIGUSR1
"""Try again what was given up. Not SIGHUP, which a closing terminal sends to end what runs in it."""
