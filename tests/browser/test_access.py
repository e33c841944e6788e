"""Every place is for everyone: axe finds nothing in light, in dark and on a phone, and the keyboard gets everywhere."""

from pathlib import Path
from typing import Any, get_args

import pytest
from playwright.async_api import Browser

from browser.axe import violations
from browser.places import PLACES, Group, settled
from browser.stage import staged
from browser.walk import faults_of_walk

pytestmark = pytest.mark.asyncio(loop_scope="session")

_SHORT = ("chat", "personal")


@pytest.mark.behaviour("WEB-14")
@pytest.mark.parametrize(
    "group", [pytest.param(group, marks=() if group in _SHORT else pytest.mark.long) for group in get_args(Group)]
)
async def test_axe_finds_nothing_and_the_keyboard_gets_everywhere(
    group: Group, chromium: Browser, database: Any, tmp_path: Path
):
    found: dict[str, list[str]] = {}
    async with staged(chromium, database.dsn, tmp_path) as stage:
        for place in PLACES:
            if place.group == group:
                page = await place.visit(stage, "light")
                light = await violations(page)
                await page.emulate_media(color_scheme="dark")
                await settled(page)
                dark = [f"in the dark: {fault}" for fault in await violations(page, only=["color-contrast"])]
                found[place.name] = [*light, *dark, *await faults_of_walk(page)]
                await place.leave(stage, page)

    assert found
    assert {name: faults for name, faults in found.items() if faults} == {}


@pytest.mark.long
@pytest.mark.behaviour("WEB-14")
@pytest.mark.parametrize("group", get_args(Group))
async def test_axe_finds_nothing_on_a_phone(group: Group, chromium: Browser, database: Any, tmp_path: Path):
    found: dict[str, list[str]] = {}
    async with staged(chromium, database.dsn, tmp_path) as stage:
        for place in PLACES:
            if place.group == group:
                page = await place.visit(stage, "phone")
                found[place.name] = await violations(page)
                if not await page.evaluate("document.documentElement.scrollWidth <= innerWidth"):
                    found[place.name].append("it is wider than the screen")
                await place.leave(stage, page)

    assert found
    assert {name: faults for name, faults in found.items() if faults} == {}
