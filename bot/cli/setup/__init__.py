"""`perf-gate setup`: register the GitHub App, by GitHub's manifest flow or by hand, and keep its credentials."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import urlsplit

import click

from bot.cli.state import refuse
from bot.config.settings import DEFAULT_API_URL, DEFAULT_GITHUB_URL, PREFIX
from bot.faults import Fault

DOOR = "/webhook"


@click.command("setup", short_help="Register the GitHub App and keep its credentials.")
@click.option("--url", metavar="URL", help="Where GitHub will reach perf-gate serve, such as https://gate.example.org.")
@click.option("--organization", metavar="NAME", help="Register it for this organization; default: your own account.")
@click.option("--name", help="The App's name; default: perf-gate. Names are unique on GitHub.")
@click.option(
    "--to",
    "folder",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path("perf-gate-app"),
    show_default=True,
    help="The folder for key, webhook secret and app.env.",
)
@click.option("--port", type=click.IntRange(0, 65535), default=0, help="The local page's port; default: a free one.")
@click.option("--by-hand", is_flag=True, help="Say what to type into GitHub's form; with the next three, check it.")
@click.option("--app-id", type=click.IntRange(1), help="The id of an App that was registered by hand.")
@click.option("--private-key", type=click.Path(path_type=Path), help="Its .pem file.")
@click.option("--webhook-secret-file", type=click.Path(path_type=Path), help="A file with its webhook secret.")
def command(
    url: str | None,
    organization: str | None,
    name: str | None,
    folder: Path,
    port: int,
    by_hand: bool,
    app_id: int | None,
    private_key: Path | None,
    webhook_secret_file: Path | None,
) -> None:
    """Register the GitHub App that perf-gate acts as: open the page that this command serves on this machine, and press
    the button there and on GitHub. Key and secret come back to the folder, readable by you alone; then it says the next
    command. With --by-hand it tells what to type instead.
    """
    of_an_app = {"--app-id": app_id, "--private-key": private_key, "--webhook-secret-file": webhook_secret_file}
    _refuse_halves(of_an_app, by_hand)
    try:
        if by_hand and app_id and private_key and webhook_secret_file:
            click.echo(asyncio.run(_check(app_id, private_key, webhook_secret_file, folder)))
        elif by_hand:
            from bot.cli.setup.by_hand import walk

            click.echo(walk(_door(url or "https://YOUR-HOST"), _github_url(), organization))
        elif url is None:
            raise click.UsageError("Give --url, the address where GitHub will reach perf-gate serve.")
        else:
            asyncio.run(_register(url, organization, name, folder, port))
    except Fault as fault:
        refuse(fault.public)
    except OSError as error:
        refuse(f"the page cannot be served on port {port}: {error.strerror or error}")


def _refuse_halves(of_an_app: Mapping[str, object | None], by_hand: bool) -> None:
    """An App that was registered by hand is checked by all three, or not at all. Raises UsageError."""
    given = [name for name, value in of_an_app.items() if value is not None]
    lacking = [name for name, value in of_an_app.items() if value is None] if given else []
    if given and not by_hand:
        raise click.UsageError(f"{given[0]} is of an App that was registered by hand: give --by-hand too.")
    if lacking:
        raise click.UsageError(f"To check an App that was registered by hand, give {' and '.join(lacking)} too.")


async def _register(url: str, organization: str | None, name: str | None, folder: Path, port: int) -> None:
    from bot.cli.setup.keeping import make_ready
    from bot.cli.setup.page import Wish, served

    make_ready(folder)
    wish = Wish(_door(url), folder, _github_url(), _api_url(), organization, name)
    async with served(wish, port) as page:
        click.echo(f"Open {page.address}/ in a browser on this machine (Ctrl-C ends it).")
        steps = await page.done
    click.echo(steps)


async def _check(app_id: int, private_key: Path, webhook_secret_file: Path, folder: Path) -> str:
    from bot.cli.checks.github import differences
    from bot.cli.setup.by_hand import look_up, read
    from bot.cli.setup.keeping import keep, next_steps, refuse_to_overwrite

    refuse_to_overwrite(folder)
    pem, secret = read(private_key, "the private key"), read(webhook_secret_file, "the webhook secret")
    if len(secret) < 8:
        raise Fault("the webhook secret is shorter than 8 characters; choose a longer one on the App's page")
    grants = await look_up(_api_url(), app_id, pem)
    if lacking := differences(grants):
        settings = f"{_github_url()}/settings/apps/{grants.slug}/permissions"
        raise Fault("\n".join(["The App is not as app.yml has it:", *(f"  {one}" for one in lacking), settings]))
    return next_steps(keep(folder, app_id, pem, secret), grants.slug, f"{grants.html_url}/installations/new")


def _door(url: str) -> str:
    """The webhook's address. Raises Fault."""
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.netloc:
        raise Fault(f"--url {url}: not an address of the form https://host")
    return url.rstrip("/") if parts.path.endswith(DOOR) else url.rstrip("/") + DOOR


def _github_url() -> str:
    return os.environ.get(f"{PREFIX}GITHUB_URL", "") or DEFAULT_GITHUB_URL


def _api_url() -> str:
    return os.environ.get(f"{PREFIX}GITHUB_API_URL", "") or DEFAULT_API_URL
