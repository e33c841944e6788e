"""Files that users attach: stored by what they are, shown to who may see them, gone when nobody needs them."""

import hashlib
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

import asyncpg
import pytest

from chatd.core.file_types import MOST_BYTES
from chatd.server.download_links import DownloadLinks
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


@pytest.mark.parametrize("how", ["{}", "W/{}", '"of another", {}'])
async def test_a_file_that_a_browser_has_is_not_sent_again(serving: Any, how: str):
    async with serving() as running:
        path = f"{FILES}/{(await upload(running.owner, PNG)).body['id']}"
        other = f"{FILES}/{(await upload(running.owner, PNG + b'more')).body['id']}"
        first = await running.owner.raw("GET", path)
        known = {"if-none-match": how.format(first.headers["etag"])}
        again, another = [await running.owner.raw("GET", one, headers=known) for one in (path, other)]

    assert (first.status, first.headers["cache-control"]) == (200, "private, no-cache")
    assert (again.status, again.body, again.headers["etag"]) == (304, b"", first.headers["etag"])
    kept = (
        "cache-control",
        "content-disposition",
        "content-security-policy",
    )  # what is kept becomes as the answer says
    assert [again.headers[name] for name in kept] == [first.headers[name] for name in kept]
    assert (another.status, another.body) == (200, PNG + b"more")


async def test_who_may_not_see_a_file_is_not_told_that_it_is_the_one_in_the_cache(serving: Any):
    async with serving() as running:
        mia, max_ = [await running.add_user(name, "member") for name in ("mia", "max")]
        path = f"{FILES}/{(await upload(mia, PNG)).body['id']}"
        known = {"if-none-match": (await mia.raw("GET", path)).headers["etag"]}
        answers = [await api.raw("GET", path, headers=known) for api in (mia, max_, running.api)]
        await mia.call("POST", "/api/v2/users/logout")
        left = await mia.raw("GET", path, headers=known)

    assert [answer.status for answer in answers] == [304, 404, 401]
    assert left.status == 401


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


async def link_to(api: Api, file_id: str) -> str:
    """The address, without the server's own."""
    made = await api.raw("POST", f"{FILES}/{file_id}/download-url")
    assert made.status == 200, made
    assert made.body["url"].startswith(api.url)
    return made.body["url"].removeprefix(api.url)


async def test_a_link_gives_its_file_to_who_has_no_session(serving: Any):
    async with serving() as running:
        id = (await upload(running.owner, PNG, "an owl.png")).body["id"]
        made = (await running.owner.raw("POST", f"{FILES}/{id}/download-url")).body
        got = await running.api.raw("GET", made["url"].removeprefix(running.api.url))

    assert {**made, "url": "", "expires_at": ""} == {
        "url": "",
        "expires_at": "",
        "sha256": hashlib.sha256(PNG).hexdigest(),
        "size_bytes": len(PNG),
        "name": "an owl.png",
        "mime_type": "image/png",
    }
    assert datetime.fromisoformat(made["expires_at"]).microsecond == 0
    assert (got.status, got.body, got.headers["content-type"]) == (200, PNG, "image/png")
    assert got.headers["cache-control"] == "no-store"
    assert got.headers["content-disposition"] == "attachment; filename*=UTF-8''an%20owl.png"
    assert got.headers["content-security-policy"].startswith("sandbox")


async def test_a_link_is_made_by_who_may_read_the_file(serving: Any):
    people = [("mia", "member"), ("max", "member"), ("aud", "auditor")]
    async with serving() as running:
        mia, max_, auditor = [await running.add_user(name, role) for name, role in people]
        path = f"{FILES}/{(await upload(mia, PNG)).body['id']}/download-url"
        made = [(await api.raw("POST", path)).status for api in (mia, running.owner, auditor, max_, running.api)]

    assert made == [200, 200, 200, 404, 401]


async def test_a_link_is_good_for_its_file_and_nothing_else(serving: Any):
    async with serving() as running:
        one, two = [(await upload(running.owner, PNG)).body["id"] for _ in range(2)]
        good = await link_to(running.owner, one)
        token = good.partition("=")[2]
        changed = token[:-6] + ("A" if token[-6] != "A" else "B") + token[-5:]
        tries = [f"{FILES}/{two}/download?token={token}"]
        tries += [
            f"{FILES}/{one}/download?token={bad}" for bad in (changed, token[:-4], token * 2, "", "%00", "%C3%BC")
        ]
        answers = [await running.api.raw("GET", path) for path in (good, *tries, f"{FILES}/{one}/download")]

    assert [answer.status for answer in answers] == [200] + [404] * 8
    assert len({answer.body["message"] for answer in answers[1:]}) == 1


async def test_a_link_ends_with_its_time_and_with_what_its_maker_may_read(serving: Any, database: Any):
    async with serving() as running:
        auditor = await running.add_user("aud", "auditor")
        mia = await running.add_user("mia")
        id = (await upload(mia, PNG)).body["id"]
        by_auditor, by_mia = await link_to(auditor, id), await link_to(mia, id)
        users = {user["username"]: user["id"] for user in (await running.owner.get("/api/v2/users")).body["users"]}
        before = [(await running.api.raw("GET", path)).status for path in (by_auditor, by_mia)]
        await running.owner.put(f"/api/v2/users/{users['aud']}/role", {"role": "member"})
        no_right = (await running.api.raw("GET", by_auditor)).status
        await running.owner.put(f"/api/v2/users/{users['mia']}/status/suspend")
        suspended = (await running.api.raw("GET", by_mia)).status
        await running.owner.put(f"/api/v2/users/{users['mia']}/status/activate")
        active = (await running.api.raw("GET", by_mia)).status
        connection = await asyncpg.connect(database.dsn)
        await connection.execute("DELETE FROM files")
        await connection.close()
        gone = (await running.api.raw("GET", by_mia)).status

    assert (before, no_right, suspended, active, gone) == ([200, 200], 404, 404, 200, 404)


async def test_a_link_is_over_after_five_minutes(serving: Any):
    async with serving() as running:
        replica, now = running.replica, running.replica.clock.now()
        person = await replica.identity.authenticate(running.owner.token)
        id = UUID((await upload(running.owner, PNG)).body["id"])

    class At:
        def __init__(self, later: timedelta) -> None:
            self.now = lambda: now + later

    def links(later: timedelta) -> DownloadLinks:
        clock: Any = At(later)
        return DownloadLinks(replica.opened.store, replica.opened.cipher, clock)

    link = links(timedelta()).make(person, id)
    assert link.expires_at == now.replace(microsecond=0) + timedelta(minutes=5)
    assert links(timedelta(minutes=4, seconds=58))._maker(id, link.token) == person.user_id
    assert links(timedelta(minutes=5))._maker(id, link.token) is None
