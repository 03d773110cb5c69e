"""What an engine does, said in sixty lines without a database: the oracle of the randomised test.

It knows one lane with room for one effect, performers that end at once, and failures that are laid out beforehand.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from datetime import datetime

from tests.engine.script import Act, Alarm, Do, Wish
from tests.engine.stage import MINUTE

ATTEMPTS = 3


@dataclass
class Pending:
    act: Act
    key: str
    due: datetime
    attempts: int = 0


@dataclass
class Model:
    now: datetime
    failures: dict[str, int] = field(default_factory=dict)
    """How often the performer of an effect raises before it succeeds."""
    labels: dict[str, list[str]] = field(default_factory=dict)
    effects: list[Pending] = field(default_factory=list)
    ids: set[str] = field(default_factory=set)
    performed: list[str] = field(default_factory=list)
    timers: dict[tuple[str, str], tuple[datetime, int, Do]] = field(default_factory=dict)
    slots: dict[str, list[tuple[str, Wish]]] = field(default_factory=dict)
    set_so_far: int = 0

    def deliver(self, *events: tuple[str, Do]) -> None:
        waiting = deque(events)
        while waiting:
            key, event = waiting.popleft()
            self.labels.setdefault(key, []).append(event.label)
            self.effects = [e for e in self.effects if e.key != key or e.act.scope not in event.revoke]
            for name in event.cancel:
                self.timers.pop((key, name), None)
            for act in event.effects:
                self._ask(key, act)
            for alarm in event.timers:
                self._set(key, alarm)
            for holder in event.release:
                waiting.extend(self._release(holder))
            for wish in event.acquire:
                waiting.extend(self._acquire(key, wish))

    def rest(self) -> None:
        """Do all that is due: timers first, then the effect that is due the longest, and again."""
        while True:
            timers = sorted((due, order, name) for name, (due, order, _) in self.timers.items() if due <= self.now)
            effects = [effect for effect in self.effects if effect.due <= self.now]
            if timers:
                key_and_name = timers[0][2]
                self.deliver((key_and_name[0], self.timers.pop(key_and_name)[2]))
            elif effects:
                self._perform(min(effects, key=lambda effect: effect.due))
            else:
                return

    def next_due(self) -> datetime | None:
        dues = [due for due, _, _ in self.timers.values()] + [effect.due for effect in self.effects]
        return min(dues, default=None)

    def _ask(self, key: str, act: Act) -> None:
        due = self.now if act.after is None else self.now + act.after
        for waiting in self.effects:
            if act.coalesce and (waiting.key, waiting.act.coalesce) == (key, act.coalesce):
                if waiting.attempts == 0:
                    waiting.due = min(waiting.due, due)
                return
        if act.id not in self.ids:
            self.ids.add(act.id)
            self.effects.append(Pending(act, key, due))

    def _perform(self, effect: Pending) -> None:
        self.performed.append(effect.act.id)
        effect.attempts += 1
        if self.failures.get(effect.act.id, 0) < effect.attempts:
            self.effects.remove(effect)
            self.deliver((effect.key, Do(f"{effect.act.id} done")))
        elif effect.attempts == ATTEMPTS:
            self.effects.remove(effect)
            self.deliver((effect.key, Do(f"{effect.act.id} failed: Flaky")))
        else:
            effect.due = self.now + MINUTE * 2 ** (effect.attempts - 1)

    def _set(self, key: str, alarm: Alarm) -> None:
        self.set_so_far += 1
        self.timers[key, alarm.name] = (self.now + alarm.after, self.set_so_far, alarm.then)

    def _acquire(self, key: str, wish: Wish) -> list[tuple[str, Do]]:
        if any(wish.holder == other.holder for line in self.slots.values() for _, other in line):
            return []
        line = self.slots.setdefault(wish.slot, [])
        line.append((key, wish))
        return [(key, wish.then)] if len(line) == 1 else []

    def _release(self, holder: str) -> list[tuple[str, Do]]:
        for line in self.slots.values():
            for place, (_, wish) in enumerate(line):
                if wish.holder == holder:
                    del line[place]
                    return [(line[0][0], line[0][1].then)] if place == 0 and line else []
        return []
