"""Texts that no encoding holds, as file names of a hostile pull request may be: they end no engine."""

from __future__ import annotations

from tests.engine.script import Act, Do
from tests.engine.stage import Shell, playing

UNSPEAKABLE = b"caf\xe9".decode("utf-8", "surrogateescape")


async def test_an_error_that_no_encoding_holds_is_told_and_recorded(shell: Shell) -> None:
    async with playing(shell) as stage:
        stage.hands.errors["x"] = [OSError(UNSPEAKABLE)]
        await stage.do("a", Do("placed", effects=(Act("x"),)))
        assert await stage.labels("a") == ("placed", "x failed: OSError")
        (attempt,) = (await stage.engine.history("a")).attempts
        assert attempt.error == "OSError: caf?"


async def test_a_note_that_cannot_be_said_undoes_no_end(shell: Shell) -> None:
    async with playing(shell) as stage:
        held = stage.hands.hold("x")
        await stage.engine.advance("a", Do("placed", effects=(Act("x"),)), cause="test")
        await held.reached.wait()
        assert held.context is not None
        held.context.notes.append({"child": f"git show {UNSPEAKABLE}"})
        held.go.set()
        await stage.engine.idle()
        assert await stage.labels("a") == ("placed", "x done")
        (attempt,) = (await stage.engine.history("a")).attempts
        assert attempt.notes[0]["child"] == "git show caf?"
