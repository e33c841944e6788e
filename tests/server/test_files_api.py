"""Files that users attach: stored by what they are, shown to who may see them, gone when nobody needs them."""

from typing import Any

import asyncpg
import pytest

from chatd.core.file_types import MOST_BYTES
from chatd.server.janitor import clean
from server.running import Answer, Api

FILES = "/api/experimental/chats/files"
PNG = b"\x89PNG\r\n\x1a\n" + b"\x00" * 20


async def upload(api: Api, data: bytes, name: str = "a.png", kind: str = "application/octet-stream") -> Answer:
    headers = {"content-type": kind, "content-disposition": f'attachment; filename="{name}"'}
    return await api.raw("POST", FILES, data, headers)


async def test_a_file_comes_back_as_it_is_and_does_nothing_in_a_browser(serving: Any):
    async with serving() as running:
        made = await upload(running.owner, PNG)
        text = await upload(running.owner, "grüße".encode(), "a b.md", "text/markdown")
        image, words = [await running.owner.raw("GET", f"{FILES}/{answer.body['id']}") for answer in (made, text)]

    assert (made.status, image.status, words.status) == (201, 200, 200)
    assert (image.body, words.body) == (PNG, "grüße".encode())
    assert image.headers["content-type"] == "image/png"
    assert words.headers["content-type"] == "text/markdown; charset=utf-8"
    assert words.headers["content-disposition"] == "inline; filename*=UTF-8''a%20b.md"
    assert image.headers["content-security-policy"].startswith("sandbox")
    assert "immutable" in image.headers["cache-control"]


async def test_a_file_is_seen_by_its_owner_and_those_who_see_everything(serving: Any):
    people = [("mia", "member"), ("max", "member"), ("aud", "auditor")]
    async with serving() as running:
        mia, max_, auditor = [await running.add_user(name, role) for name, role in people]
        path = f"{FILES}/{(await upload(mia, PNG)).body['id']}"
        seen = [(await api.raw("GET", path)).status for api in (mia, running.owner, auditor, max_, running.api)]
        anonymous = await upload(running.api, PNG)

    assert seen == [200, 200, 200, 404, 401]
    assert anonymous.status == 401


@pytest.mark.parametrize(
    ("data", "name", "kind"),
    [
        (b"", "a.txt", "text/plain"),
        (b"<svg/>", "a.svg", "image/svg+xml"),
        (b"\x00\x01", "a.bin", "application/octet-stream"),
        (b"hello", "a.png", "image/png"),
        (PNG, "", "image/png"),
    ],
)
async def test_a_file_that_can_not_be_used_is_refused(serving: Any, data: bytes, name: str, kind: str):
    async with serving() as running:
        answer = await upload(running.owner, data, name, kind)

    assert answer.status == 400
    assert answer.body["message"]


async def test_a_file_has_a_limit_of_its_own(serving: Any):
    async with serving() as running:
        most = await upload(running.owner, b"a" * MOST_BYTES, "a.txt")
        more = await upload(running.owner, b"a" * (MOST_BYTES + 1), "a.txt")

    assert (most.status, more.status) == (201, 413)


async def test_a_file_that_no_message_names_is_removed_after_a_day(serving: Any, database: Any):
    async with serving() as running:
        old, new = await upload(running.owner, PNG), await upload(running.owner, PNG)
        connection = await asyncpg.connect(database.dsn)
        await connection.execute(
            "UPDATE files SET created_at = now() - interval '25 hours' WHERE id = $1", old.body["id"]
        )
        await connection.close()
        await clean(running.replica.opened.store)
        seen = [(await running.owner.raw("GET", f"{FILES}/{answer.body['id']}")).status for answer in (old, new)]

    assert seen == [404, 200]
