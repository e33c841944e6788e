"""What is asked of GitHub and GitLab, over real sockets, against a server that speaks their APIs."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from datetime import timedelta

import msgspec
import pytest

from chatd.core.pull_requests import PullRequestState
from chatd.core.secret import Secret
from chatd.git_hosts.asking import _Cache, _Cached, open_session
from chatd.git_hosts.host import Branch, GitHost, HostFailed, RateLimited, TokenRefused
from chatd.git_hosts.hosts import HostConfig, HostKind, Hosts, usual_api_url
from chatd.testing.fake_clock import FakeClock
from chatd.testing.git_host_server import TOKEN, GitHostServer, Pull, Repository, Said, git_host_server

KINDS = list(HostKind)
FEATURE = Branch("team/project", "feature")


@asynccontextmanager
async def asked(
    kind: HostKind, *repositories: Repository, token: str = TOKEN, clock: FakeClock | None = None
) -> AsyncGenerator[tuple[GitHostServer, GitHost]]:
    async with git_host_server() as server, open_session(clock or FakeClock()) as session:
        server.repositories = list(repositories)
        url = server.github_url if kind is HostKind.GITHUB else server.gitlab_url
        config = HostConfig(kind=kind, host="Code.Example.ORG", token=Secret(token), api_url=url)
        host = Hosts(session, [config]).of("code.example.org")
        assert host is not None
        yield server, host
        assert server.faults == []


def project(*pulls: Pull, id: int = 1, path: str = "team/project", parent: str | None = None) -> Repository:
    return Repository(id=id, path=path, parent=parent, pulls=list(pulls))


@pytest.mark.parametrize("kind", KINDS)
async def test_the_pull_request_of_a_branch_is_told_with_its_numbers(kind: HostKind) -> None:
    pull = Pull(number=7, title="Faster", draft=True, reviews=[("bob", "APPROVED")], files=3, commits=2)
    async with asked(kind, project(pull)) as (_, host):
        found = await host.pull_request(FEATURE)
    assert found is not None
    assert found.url.endswith("/7")
    assert (found.number, found.title, found.state) == (7, "Faster", PullRequestState.OPEN)
    assert (found.is_draft, found.head_branch, found.base_branch, found.author_login) == (
        True,
        "feature",
        "main",
        "ada",
    )
    assert (found.approved, found.changes_requested, found.reviewer_count) == (True, False, 1)
    assert (found.additions, found.deletions, found.changed_files, found.commits) == (2, 1, 3, 2)


@pytest.mark.parametrize("kind", KINDS)
async def test_a_branch_without_a_pull_request_has_none(kind: HostKind) -> None:
    async with asked(kind, project(Pull(number=1, branch="another"))) as (_, host):
        assert await host.pull_request(FEATURE) is None


@pytest.mark.parametrize("kind", KINDS)
async def test_an_open_one_is_preferred_and_else_the_one_changed_last(kind: HostKind) -> None:
    old = Pull(number=1, state="merged", updated=1)
    new = Pull(number=2, state="closed", updated=2)
    opened = Pull(number=3, updated=0)
    async with asked(kind, project(old, new, opened)) as (server, host):
        first = await host.pull_request(FEATURE)
        assert first is not None
        assert (first.number, first.state) == (3, PullRequestState.OPEN)
        server.repositories = [project(old, new)]
        second = await host.pull_request(FEATURE)
        assert second is not None
        assert (second.number, second.state) == (2, PullRequestState.CLOSED)
        server.repositories = [project(old)]
        third = await host.pull_request(FEATURE)
        assert third is not None
        assert third.state is PullRequestState.MERGED


@pytest.mark.parametrize("kind", KINDS)
async def test_a_pull_request_from_a_fork_is_found_where_it_was_made(kind: HostKind) -> None:
    fork = project(id=2, path="ada/project", parent="team/project")
    upstream = project(Pull(number=9, owner="ada", source=2), Pull(number=10, owner="eve", source=3, updated=5))
    async with asked(kind, fork, upstream) as (_, host):
        branch = Branch("ada/project", "feature")
        found = await host.pull_request(branch)
        assert found is not None
        assert found.number == 9
        assert await host.diff(branch, 9, most_bytes=1000) == "+one\n+two\n-three\n"


@pytest.mark.parametrize("kind", KINDS)
async def test_a_branch_of_the_same_name_in_a_fork_is_another_branch(kind: HostKind) -> None:
    of_a_fork = Pull(number=5, owner="eve", source=3, updated=9)
    async with asked(kind, project(of_a_fork)) as (server, host):
        assert await host.pull_request(FEATURE) is None
        server.repositories = [project(of_a_fork, Pull(number=6))]
        found = await host.pull_request(FEATURE)
    assert found is not None
    assert found.number == 6


@pytest.mark.parametrize("kind", KINDS)
async def test_who_wants_changes_outweighs_who_approves(kind: HostKind) -> None:
    reviews = [("bob", "APPROVED"), ("eve", "CHANGES_REQUESTED"), ("joe", "COMMENTED")]
    async with asked(kind, project(Pull(number=1, reviews=reviews))) as (_, host):
        found = await host.pull_request(FEATURE)
    assert found is not None
    assert (found.approved, found.changes_requested, found.reviewer_count) == (False, True, 2)


async def test_the_last_word_of_a_reviewer_counts() -> None:
    reviews = [("bob", "CHANGES_REQUESTED"), ("bob", "COMMENTED"), ("bob", "APPROVED"), ("eve", "DISMISSED")]
    async with asked(HostKind.GITHUB, project(Pull(number=1, reviews=reviews))) as (_, host):
        found = await host.pull_request(FEATURE)
    assert found is not None
    assert (found.approved, found.changes_requested, found.reviewer_count) == (True, False, 1)


@pytest.mark.parametrize("kind", KINDS)
async def test_what_has_not_changed_is_not_sent_again(kind: HostKind) -> None:
    async with asked(kind, project(Pull(number=1))) as (server, host):
        first = await host.pull_request(FEATURE)
        requests = len(server.asked)
        assert await host.pull_request(FEATURE) == first
        assert len(server.asked) == 2 * requests
        assert all(path.endswith(" 304") for path in server.asked[requests:])
        server.repositories = [project(Pull(number=1, title="Another title"))]
        changed = await host.pull_request(FEATURE)
        assert changed is not None
        assert changed.title == "Another title"


async def test_what_one_token_was_shown_is_not_remembered_for_another() -> None:
    async with git_host_server() as server, open_session(FakeClock()) as session:
        server.repositories = [project(Pull(number=1))]
        for token in (TOKEN, "wrong", TOKEN):
            config = HostConfig(kind=HostKind.GITHUB, host="a.test", token=Secret(token), api_url=server.github_url)
            host = Hosts(session, [config]).of("a.test")
            assert host is not None
            server.asked.clear()
            with suppress(TokenRefused):
                await host.pull_request(FEATURE)
            assert not any(path.endswith(" 304") for path in server.asked)


@pytest.mark.parametrize("kind", KINDS)
async def test_an_answer_that_has_not_changed_may_be_the_last_of_a_limit(kind: HostKind) -> None:
    clock = FakeClock()
    spent = {"x-ratelimit-remaining": "0", "x-ratelimit-reset": str(int(clock.now().timestamp()) + 600)}
    async with asked(kind, project(), clock=clock) as (server, host):
        await host.account()
        server.next_answers = [Said(304, b"", spent)]
        await host.account()
        with pytest.raises(RateLimited):
            await host.account()
        assert len(server.asked) == 2


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("status", [403, 429])
async def test_a_host_that_wants_no_more_requests_gets_none_until_then(kind: HostKind, status: int) -> None:
    clock = FakeClock()
    async with asked(kind, project(Pull(number=1)), clock=clock) as (server, host):
        server.next_answers = [Said(status, b"{}", {"retry-after": "90"})]
        with pytest.raises(RateLimited) as limited:
            await host.pull_request(FEATURE)
        assert limited.value.until >= clock.now() + timedelta(seconds=90)
        with pytest.raises(RateLimited):
            await host.pull_request(FEATURE)
        assert len(server.asked) == 1
        await clock.advance(92)
        assert await host.pull_request(FEATURE) is not None


async def test_a_limit_that_is_told_in_words_alone_is_one() -> None:
    clock = FakeClock()
    words = b'{"message": "You have exceeded a secondary rate limit. Please wait a few minutes before you try again."}'
    async with asked(HostKind.GITHUB, project(Pull(number=1)), clock=clock) as (server, host):
        server.next_answers = [Said(403, words)]
        with pytest.raises(RateLimited) as limited:
            await host.pull_request(FEATURE)
        assert limited.value.until >= clock.now() + timedelta(seconds=60)
        server.next_answers = [Said(403, b'{"message": "Resource not accessible by personal access token"}')]
        await clock.advance(62)
        with pytest.raises(TokenRefused):
            await host.pull_request(FEATURE)


async def test_the_time_of_renewal_is_honoured() -> None:
    clock = FakeClock()
    reset = int(clock.now().timestamp()) + 600
    async with asked(HostKind.GITHUB, project(Pull(number=1)), clock=clock) as (server, host):
        server.next_answers = [Said(403, b"{}", {"x-ratelimit-remaining": "0", "x-ratelimit-reset": str(reset)})]
        with pytest.raises(RateLimited) as limited:
            await host.pull_request(FEATURE)
        assert limited.value.until.timestamp() >= reset


async def test_the_answer_that_took_the_last_request_is_used_and_the_next_waits() -> None:
    clock = FakeClock()
    reset = int(clock.now().timestamp()) + 600
    body = msgspec.json.encode([])
    headers = {"x-ratelimit-remaining": "0", "x-ratelimit-reset": str(reset)}
    async with asked(HostKind.GITHUB, project(), clock=clock) as (server, host):
        server.next_answers = [Said(200, body, headers)]
        with pytest.raises(RateLimited):
            await host.pull_request(FEATURE)
        assert len(server.asked) == 1


@pytest.mark.parametrize("kind", KINDS)
async def test_a_refused_token_is_told_as_such(kind: HostKind) -> None:
    async with asked(kind, project(), token="wrong") as (_, host):
        with pytest.raises(TokenRefused):
            await host.pull_request(FEATURE)


@pytest.mark.parametrize("kind", KINDS)
async def test_an_unknown_repository_is_told_as_such(kind: HostKind) -> None:
    async with asked(kind) as (_, host):
        with pytest.raises(TokenRefused):
            await host.pull_request(FEATURE)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "said", [Said(500), Said(302, b"", {"location": "http://127.0.0.1:1/"}), Said(200, b"no json"), Said(200, b'"x"')]
)
async def test_an_answer_that_is_none_is_a_failure(kind: HostKind, said: Said) -> None:
    async with asked(kind, project()) as (server, host):
        server.next_answers = [said]
        with pytest.raises(HostFailed):
            await host.pull_request(FEATURE)


@pytest.mark.parametrize("kind", KINDS)
async def test_a_token_goes_to_no_other_server_than_its_own(kind: HostKind) -> None:
    async with git_host_server() as other, asked(kind, project()) as (server, host):
        server.next_answers = [Said(302, b"", {"location": f"{other.url}/user"})]
        with pytest.raises(HostFailed):
            await host.account()
        assert other.asked == []


def test_small_answers_are_not_remembered_without_end() -> None:
    cache = _Cache()
    for number in range(50_000):
        cache.put(number, _Cached("etag", b"[]"))
    assert len(cache._kept) < 20_000
    assert cache.get(0) is None
    assert cache.get(49_999) is not None


@pytest.mark.parametrize("kind", KINDS)
async def test_a_host_that_is_not_there_is_a_failure(kind: HostKind) -> None:
    async with open_session(FakeClock()) as session:
        config = HostConfig(kind=kind, host="gone.test", token=Secret(TOKEN), api_url="http://127.0.0.1:9")
        host = Hosts(session, [config]).of("gone.test")
        assert host is not None
        with pytest.raises(HostFailed) as failed:
            await host.pull_request(FEATURE)
    assert TOKEN not in str(failed.value)


@pytest.mark.parametrize("kind", KINDS)
async def test_each_request_is_counted_by_how_it_ended(kind: HostKind) -> None:
    counted: list[str] = []

    def count(of: str, outcome: str) -> None:
        assert of == kind.value
        counted.append(outcome)

    clock = FakeClock()
    async with git_host_server() as server, open_session(clock, counted=count) as session:
        url = server.github_url if kind is HostKind.GITHUB else server.gitlab_url
        config = HostConfig(kind=kind, host="a.test", token=Secret(TOKEN), api_url=url)
        host = Hosts(session, [config]).of("a.test")
        wrong = Hosts(session, [msgspec.structs.replace(config, token=Secret("wrong"))]).of("a.test")
        gone = Hosts(session, [msgspec.structs.replace(config, api_url="http://127.0.0.1:9")]).of("a.test")
        assert host is not None
        assert wrong is not None
        assert gone is not None
        await host.account()
        await host.account()
        server.next_answers = [Said(500)]
        for failing in (host, wrong, gone):
            with pytest.raises(HostFailed):
                await failing.account()
        server.next_answers = [Said(429, b"{}", {"retry-after": "90"})]
        for _ in range(2):  # the second time nothing is asked
            with pytest.raises(RateLimited):
                await host.account()

    assert counted == ["ok", "unchanged", "failed", "refused", "unreachable", "limited"]


@pytest.mark.parametrize("kind", KINDS)
async def test_a_diff_is_given_whole_or_not_at_all(kind: HostKind) -> None:
    async with asked(kind, project(Pull(number=1, diff="+x\n" * 1000))) as (_, host):
        assert await host.diff(FEATURE, 1, most_bytes=2999) is None
        assert await host.diff(FEATURE, 1, most_bytes=3000) == "+x\n" * 1000
        assert await host.diff(FEATURE, 1, most_bytes=2999) is None  # what is remembered is bounded too


@pytest.mark.parametrize("kind", KINDS)
async def test_an_answer_without_end_is_not_read(kind: HostKind) -> None:
    async with asked(kind, project()) as (server, host):
        server.next_answers = [Said(200, b" " * (5 * 1024 * 1024) + b"[]")]
        with pytest.raises(HostFailed, match="too large"):
            await host.account()


@pytest.mark.parametrize("kind", KINDS)
async def test_names_with_signs_in_them_reach_the_host_as_they_are(kind: HostKind) -> None:
    name = "fix/#1 & more?"
    async with asked(kind, project(Pull(number=1, branch=name))) as (_, host):
        found = await host.pull_request(Branch("team/project", name))
    assert found is not None
    assert found.head_branch == name


async def test_projects_in_groups_of_groups_are_found() -> None:
    deep = project(Pull(number=4), path="team/group/sub/project")
    async with asked(HostKind.GITLAB, deep) as (_, host):
        assert await host.pull_request(Branch("team/group/sub/project", "feature")) is not None


def test_the_api_is_where_each_host_has_it() -> None:
    assert usual_api_url(HostKind.GITHUB, "github.com") == "https://api.github.com"
    assert usual_api_url(HostKind.GITHUB, "git.corp.test") == "https://git.corp.test/api/v3"
    assert usual_api_url(HostKind.GITLAB, "gitlab.com") == "https://gitlab.com/api/v4"


async def test_a_host_without_a_token_is_not_asked() -> None:
    async with open_session(FakeClock()) as session:
        assert Hosts(session, []).of("github.com") is None
