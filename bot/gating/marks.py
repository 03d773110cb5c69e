"""What of the bot's own stands on GitHub beside its comments, and what people pressed there."""

from __future__ import annotations

import msgspec


class Check(msgspec.Struct, frozen=True):
    """The check run that was last written: of which run, its number among that run's, and what it says.

    `completed`: it never runs again, so what runs next gets a run of its own. `is_open`: it waits or offers buttons,
    and is settled when its run is no longer the current one.
    """

    id: int
    run_id: str
    head_sha: str
    number: int = 1
    digest: str = ""
    completed: bool = False
    is_open: bool = False


class Notice(msgspec.Struct, frozen=True):
    """A comment that called people for a run; it is folded away when another run begins."""

    run_id: str
    node_id: str


class Press(msgspec.Struct, frozen=True):
    """A button of the check run that somebody pressed. `number` is negative, where a comment's id is positive.

    `cause`: the effect that told of it, where no delivery did. `about` is what the button offered
    (`bot.gating.pressing.about`); empty where a release before the first that tells it had shown the button.
    """

    number: int
    actor: str
    button: str
    run_id: str
    cause: str = ""
    about: str = ""
