"""GitHub and GitLab on one real socket: as much of their APIs as chatd asks, refused where they would refuse it."""

import asyncio
import hashlib
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from typing import Any, Final
from urllib.parse import quote

import msgspec

from chatd.testing.vendors.http_exchange import MOST_HEAD_BYTES, Incoming, Outgoing, read_request

TOKEN: Final = "git-host-token"
_VERSION: Final = "2022-11-28"


class Pull(msgspec.Struct, kw_only=True):
    """A pull or merge request. `head` is `OWNER:BRANCH` for GitHub; `source` the project's id for GitLab."""

    number: int
    title: str = "A change"
    state: str = "open"  # open, closed, merged
    branch: str = "feature"
    base: str = "main"
    owner: str = "team"
    source: int = 1
    draft: bool = False
    updated: int = 0
    author: str = "ada"
    diff: str = "+one\n+two\n-three\n"
    files: int = 1
    commits: int = 2
    reviews: list[tuple[str, str]] = []  # who, and GitHub's word for what


class Repository(msgspec.Struct, kw_only=True):
    id: int
    path: str
    parent: str | None = None
    pulls: list[Pull] = []


class Said(msgspec.Struct, frozen=True):
    status: int
    body: bytes = b"{}"
    headers: Mapping[str, str] = {}


class GitHostServer:
    """`next_answers` come before what is known, one after the other. `asked` are the paths, 304s marked."""

    def __init__(self) -> None:
        self.url = ""
        self.repositories: list[Repository] = []
        self.next_answers: list[Said] = []
        self.asked: list[str] = []
        self.faults: list[str] = []

    @property
    def github_url(self) -> str:
        return f"{self.url}/github"

    @property
    def gitlab_url(self) -> str:
        return f"{self.url}/gitlab/api/v4"

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while (incoming := await read_request(reader)) is not None:
                said = self._answer(incoming)
                etag = f'W/"{hashlib.sha256(said.body).hexdigest()[:16]}"'
                if said.status == 200 and incoming.headers.get("if-none-match") == etag:
                    said = Said(304, b"", said.headers)
                self.asked.append(f"{incoming.path}{' 304' if said.status == 304 else ''}")
                headers = {**said.headers, "etag": etag} if said.status in (200, 304) else said.headers
                await Outgoing(reader, writer).whole(
                    said.status, said.body, content_type="application/json", headers=headers
                )
        except ConnectionError:
            pass
        finally:
            writer.transport.abort()

    def _answer(self, incoming: Incoming) -> Said:
        if self.next_answers:
            return self.next_answers.pop(0)
        if incoming.method != "GET":
            self.faults.append(f"{incoming.method} {incoming.path}")
            return Said(405)
        if incoming.path == "/github/user":
            is_known = incoming.headers.get("authorization") == f"Bearer {TOKEN}"
            return _json({"login": "chatd-bot", "avatar_url": ""}) if is_known else Said(401)
        if incoming.path == "/gitlab/api/v4/user":
            is_known = incoming.headers.get("private-token") == TOKEN
            return _json({"username": "chatd-bot", "avatar_url": None}) if is_known else Said(401)
        if incoming.path.startswith("/github/repos/"):
            return self._github(incoming, incoming.path.removeprefix("/github/repos/"))
        if incoming.path.startswith("/gitlab/api/v4/projects/"):
            return self._gitlab(incoming, incoming.path.removeprefix("/gitlab/api/v4/projects/"))
        return Said(404)

    # GitHub

    def _github(self, incoming: Incoming, path: str) -> Said:
        if incoming.headers.get("authorization") != f"Bearer {TOKEN}":
            return Said(401)
        if incoming.headers.get("x-github-api-version") != _VERSION:
            self.faults.append("no version of the API")
        owner, name, *rest = path.split("/")
        repository = self._repository(f"{owner}/{name}")
        if repository is None:
            return Said(404)
        match rest:
            case []:
                parent = {"parent": {"full_name": repository.parent}} if repository.parent else {}
                return _json({"full_name": repository.path, "fork": bool(repository.parent), **parent})
            case ["pulls"]:
                return _json([_github_pull(repository, pull) for pull in self._of_head(repository, incoming)])
            case ["pulls", number]:
                pull = _numbered(repository, number)
                if pull is None:
                    return Said(404)
                if incoming.headers.get("accept") == "application/vnd.github.diff":
                    return Said(200, pull.diff.encode())
                return _json(_github_pull(repository, pull))
            case ["pulls", number, "reviews"]:
                pull = _numbered(repository, number)
                reviews = pull.reviews if pull else []
                return _json([{"state": state, "user": {"login": who, "avatar_url": ""}} for who, state in reviews])
            case _:
                return Said(404)

    def _of_head(self, repository: Repository, incoming: Incoming) -> list[Pull]:
        owner, _, branch = incoming.query["head"].partition(":")
        if incoming.query.get("state") != "all":
            self.faults.append("only open ones were asked for")
        found = [pull for pull in repository.pulls if pull.owner == owner and pull.branch == branch]
        return sorted(found, key=lambda pull: -pull.updated)

    # GitLab

    def _gitlab(self, incoming: Incoming, path: str) -> Said:
        if incoming.headers.get("private-token") != TOKEN:
            return Said(401)
        known = {form: each for each in self.repositories for form in (str(each.id), each.path)}
        found = next((form for form in sorted(known, key=len, reverse=True) if (path + "/").startswith(form + "/")), "")
        if not found:
            return Said(404)
        repository, rest = known[found], path.removeprefix(found).strip("/").split("/")
        match rest:
            case [""]:
                parent = self._repository(repository.parent) if repository.parent else None
                fork = {"forked_from_project": {"id": parent.id}} if parent else {}
                return _json({"id": repository.id, "path_with_namespace": repository.path, **fork})
            case ["merge_requests"]:
                branch = incoming.query["source_branch"]
                pulls = sorted(
                    (each for each in repository.pulls if each.branch == branch), key=lambda each: -each.updated
                )
                return _json([_merge(repository, pull) for pull in pulls])
            case ["merge_requests", number, *what]:
                pull = _numbered(repository, number)
                return Said(404) if pull is None else _part_of(repository, pull, what, incoming)
            case _:
                return Said(404)

    def _repository(self, path: str) -> Repository | None:
        return next((each for each in self.repositories if each.path == path), None)


def _part_of(repository: Repository, pull: Pull, what: list[str], incoming: Incoming) -> Said:
    match what:
        case []:
            return _json({**_merge(repository, pull), "changes_count": str(pull.files)})
        case ["commits"]:
            return _json([{"id": f"{number:040x}"} for number in range(pull.commits)])
        case ["diffs"]:
            first = incoming.query["page"] == "1"
            return _json([{"diff": pull.diff, "new_path": "a"}] if first else [])
        case ["raw_diffs"]:
            return Said(200, pull.diff.encode())
        case ["approvals"]:
            approved = [who for who, state in pull.reviews if state == "APPROVED"]
            return _json({"approved_by": [{"user": {"username": who}} for who in approved]})
        case ["reviewers"]:
            words = {"APPROVED": "approved", "CHANGES_REQUESTED": "requested_changes"}
            return _json(
                [{"user": {"username": who}, "state": words.get(state, "reviewed")} for who, state in pull.reviews]
            )
        case _:
            return Said(404)


def _github_pull(repository: Repository, pull: Pull) -> dict[str, Any]:
    lines = pull.diff.splitlines()
    return {
        "number": pull.number,
        "html_url": f"https://github.test/{repository.path}/pull/{pull.number}",
        "title": pull.title,
        "state": "open" if pull.state == "open" else "closed",
        "merged": pull.state == "merged",
        "draft": pull.draft,
        "user": {"login": pull.author, "avatar_url": f"https://github.test/{pull.author}.png"},
        "head": {"ref": pull.branch},
        "base": {"ref": pull.base},
        "additions": sum(line.startswith("+") for line in lines),
        "deletions": sum(line.startswith("-") for line in lines),
        "changed_files": pull.files,
        "commits": pull.commits,
    }


def _merge(repository: Repository, pull: Pull) -> dict[str, Any]:
    states = {"open": "opened", "closed": "closed", "merged": "merged"}
    return {
        "iid": pull.number,
        "project_id": repository.id,
        "source_project_id": pull.source,
        "state": states[pull.state],
        "title": pull.title,
        "draft": pull.draft,
        "web_url": f"https://gitlab.test/{quote(repository.path)}/-/merge_requests/{pull.number}",
        "source_branch": pull.branch,
        "target_branch": pull.base,
        "author": {"username": pull.author, "avatar_url": None},
    }


def _numbered(repository: Repository, number: str) -> Pull | None:
    return next((pull for pull in repository.pulls if str(pull.number) == number), None)


def _json(value: object) -> Said:
    return Said(200, msgspec.json.encode(value))


@asynccontextmanager
async def git_host_server() -> AsyncGenerator[GitHostServer]:
    connections: set[asyncio.Task[None]] = set()
    host = GitHostServer()
    async with asyncio.TaskGroup() as group:

        def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            task = group.create_task(host.serve(reader, writer), name="git host connection")
            connections.add(task)
            task.add_done_callback(connections.discard)

        server = await asyncio.start_server(accept, "127.0.0.1", 0, limit=MOST_HEAD_BYTES)
        host.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        try:
            yield host
        finally:
            server.close()
            for task in connections:
                task.cancel()
