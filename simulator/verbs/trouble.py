"""Faults, limits, deliveries that get lost, and time."""

from __future__ import annotations

from datetime import timedelta

from simulator.clock import MovableClock
from simulator.deliveries import Delivery, DeliveryFault
from simulator.faults import Fault, FaultKind
from simulator.state import App
from simulator.verbs.parts import Parts
from simulator.world import LoggedRequest


class TroubleVerbs(Parts):
    def fault(
        self,
        kind: FaultKind,
        *,
        method: str = "*",
        path: str = "*",
        times: int | None = 1,
        status: int = 502,
        message: str = "Server Error",
        headers: dict[str, str] | None = None,
        seconds: float | None = None,
    ) -> Fault:
        """The next `times` matching requests (None: all, until cleared) meet this kind of `simulator.faults`."""
        return self.faults.add(
            kind,
            method=method,
            path=path,
            times=times,
            status=status,
            message=message,
            headers=headers or {},
            seconds=seconds,
            hide_after_id=self.world.next_id(),
        )

    def release_fault(self, fault: Fault | int) -> None:
        """Let go whom a `hold` keeps waiting. Raises LookupError."""
        for known in self.faults.active:
            if fault in (known, known.id):
                known.release()
                return
        raise LookupError(f"there is no fault {fault}")

    def clear_faults(self) -> None:
        self.faults.clear()
        self.deliveries.faults.clear()

    def lose_deliveries(self, times: int = 1, *, event: str | None = None) -> None:
        """The next ones never arrive; the log has them as failed."""
        self.deliveries.faults.append(DeliveryFault("lose", event, times))

    def duplicate_deliveries(self, times: int = 1, *, event: str | None = None) -> None:
        """The next ones arrive twice, with one GUID."""
        self.deliveries.faults.append(DeliveryFault("duplicate", event, times))

    def hold_deliveries(self) -> None:
        """Nothing leaves until `release_deliveries`."""
        self.deliveries.hold()

    async def release_deliveries(self, *, reverse: bool = False) -> None:
        await self.deliveries.release(reverse=reverse)

    def delivery_log(self, app: App | None = None) -> list[Delivery]:
        """Every attempt so far, oldest first."""
        return [one for one in self.deliveries.log if app is None or one.app is app]

    async def redeliver(self, delivery: Delivery | int) -> Delivery:
        """As a person does with the button. Raises LookupError."""
        key = delivery if isinstance(delivery, int) else delivery.id
        for known in self.deliveries.log:
            if known.id == key:
                return await self.deliveries.redeliver(known.app, key)
        raise LookupError(f"there is no delivery {key}")

    async def settled(self) -> None:
        """Return when every delivery has been answered, has failed or timed out. Held ones do not count."""
        await self.world.wait_for(lambda: self.deliveries.settled)

    def requests(self, operation: str | None = None, *, method: str | None = None) -> list[LoggedRequest]:
        """What was asked so far; of one method or operation (`GET /repos/{owner}/{repo}`), where given."""
        return [
            one for one in self.world.requests if operation in {None, one.operation} and method in {None, one.method}
        ]

    async def advance(self, by: timedelta) -> None:
        """Move the simulator's clock. Raises TypeError where it was given a clock that is moved elsewhere."""
        if not isinstance(self.world.clock, MovableClock):
            raise TypeError("this simulator was given a clock of its own; move that one")
        self.world.clock.advance(by)
        await self.world.changed()

    @property
    def violations(self) -> list[str]:
        """What the referees found; a test that ends with any has failed."""
        return self.world.violations
