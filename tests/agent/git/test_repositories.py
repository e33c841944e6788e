"""Repositories as a chat sees them, in every state that git has."""

import os
from pathlib import Path
from typing import Any
from urllib.parse import quote
from uuid import UUID

import pytest

from agent.commands import run
from agent.git.repos import cloned, git, repository
from agent.running import CHAT, OTHER_CHAT, AgentProcess, running_agent


async def _repositories(agent: AgentProcess, **asked: Any) -> list[Any]:
    reply = await agent.ask("GET", "/git/repositories", **asked)
    assert reply.status == 200, reply.body
    return reply.json["repositories"]


async def _only(agent: AgentProcess, **asked: Any) -> Any:
    (one,) = await _repositories(agent, **asked)
    return one


async def _touch(agent: AgentProcess, path: Path, *, chat: UUID = CHAT, content: bytes = b"x\n") -> None:
    reply = await agent.ask("PUT", f"/files/content?path={quote(bytes(path))}", chat=chat, raw=content)
    assert reply.status < 300, reply.body


def _files(changes: Any) -> dict[str, tuple[str, int | None, int | None]]:
    return {file["path"]: (file["status"], file.get("additions"), file.get("deletions")) for file in changes["files"]}


async def test_the_repository_around_the_working_directory_is_told_with_all_kinds_of_changes(agent: AgentProcess):
    home = repository(agent.home)
    for name in ("gone", "moved", "staged"):
        (home / name).write_text(f"{name}\n" * 5)
    git(home, "add", ".")
    git(home, "commit", "-q", "-m", "second")
    (home / "a.txt").write_text("one\ntwo\nthree\nfour\n")
    (home / "gone").unlink()
    git(home, "mv", "moved", "there")
    (home / "staged").write_text("other\n")
    git(home, "add", "staged")
    (home / "new").write_text("1\n2")
    (home / "binary").write_bytes(b"\0\1")
    git(home, "commit", "-q", "--allow-empty", "-m", "empty", "--only")

    seen = await _only(agent, chat=None)

    assert (seen["root"], seen["branch"], seen["head"]) == (str(home), "main", git(home, "rev-parse", "HEAD"))
    assert _files(seen["changes"]) == {
        "a.txt": ("modified", 1, 0),
        "binary": ("untracked", None, None),
        "gone": ("deleted", 0, 5),
        "new": ("untracked", 2, 0),
        "staged": ("modified", 1, 5),
        "there": ("renamed", 0, 0),
    }
    assert next(file["old_path"] for file in seen["changes"]["files"] if file["path"] == "there") == "moved"
    assert (seen["changes"]["additions"], seen["changes"]["deletions"]) == (4, 10)
    assert (seen["base_branch"], seen["compared_to"], seen["ahead"]) == ("main", "", None)


async def test_a_chat_sees_what_it_and_its_children_touched_and_no_others(agent: AgentProcess, tmp_path: Path):
    parent, child, other = (repository(tmp_path / name) for name in ("p", "c", "o"))
    await _touch(agent, parent / "f")
    await agent.ask("PUT", "/files/content", chat=UUID(int=7), ancestors=[CHAT], query={"path": f"{child}/f"}, raw=b"x")
    await _touch(agent, other / "f", chat=OTHER_CHAT)
    await _touch(agent, tmp_path / "in-no-repository")

    assert {one["root"] for one in await _repositories(agent)} == {str(parent), str(child)}
    assert {one["root"] for one in await _repositories(agent, chat=OTHER_CHAT)} == {str(other)}
    assert {one["root"] for one in await _repositories(agent, chat=None, query={"chat": str(CHAT)})} == {
        str(parent),
        str(child),
    }
    assert (await agent.ask("GET", "/git/repositories", query={"chat": str(OTHER_CHAT)})).status == 400


async def test_the_repository_that_was_touched_last_is_told_first(agent: AgentProcess, tmp_path: Path):
    home, other = repository(agent.home), repository(tmp_path / "other")
    assert [one["root"] for one in await _repositories(agent)] == [str(home)]
    await _touch(agent, other / "f")
    assert [one["root"] for one in await _repositories(agent)] == [str(other), str(home)]
    await _touch(agent, home / "f")
    assert [one["root"] for one in await _repositories(agent)] == [str(home), str(other)]


async def test_where_nothing_else_is_known_repositories_right_below_the_working_directory_are_told(
    agent: AgentProcess, tmp_path: Path
):
    await run(agent, "mkdir -p none deep/down && git init -q deep/down && git init -q one && git init -q two")
    os.utime(agent.home / "one" / ".git", (2**32, 2**32))
    assert [Path(one["root"]).name for one in await _repositories(agent)] == ["one", "two"]
    place = repository(tmp_path / "touched")
    await _touch(agent, place / "f")
    assert [one["root"] for one in await _repositories(agent)] == [str(place)]


async def test_where_a_command_ran_counts_once_it_has_ended(agent: AgentProcess, tmp_path: Path):
    place = repository(tmp_path / "r")
    await run(agent, "true", workdir=str(place))

    assert [one["root"] for one in await _repositories(agent)] == [str(place)]


async def test_a_branch_is_compared_with_its_upstream_else_with_the_remotes_default_branch(
    agent: AgentProcess, tmp_path: Path
):
    origin = repository(tmp_path / "origin")
    home = cloned(agent.home, origin)
    git(home, "config", "remote.origin.url", "https://token@github.com/owner/name.git")
    (origin / "theirs").write_text("x\n")
    git(origin, "add", ".")
    git(origin, "commit", "-q", "-m", "theirs")
    git(home, "fetch", "-q", str(origin), "main:refs/remotes/origin/main")
    git(home, "checkout", "-q", "-b", "work", "--no-track")
    (home / "a.txt").write_text("one\n")
    git(home, "commit", "-q", "-am", "mine")
    (home / "a.txt").write_text("one\nnew\n")

    seen = await _only(agent)
    assert (seen["branch"], seen["upstream"], seen["compared_to"]) == ("work", "", "origin/main")
    assert (seen["ahead"], seen["behind"], seen["base_branch"]) == (1, 1, "main")
    assert seen["remotes"] == [
        {
            "name": "origin",
            "url": "https://github.com/owner/name.git",
            "host": "github.com",
            "owner": "owner",
            "repository": "name",
        }
    ]
    assert _files(seen["changes"]) == {"a.txt": ("modified", 1, 0)}
    assert _files(seen["base_changes"]) == {"a.txt": ("modified", 1, 2)}

    git(home, "branch", "-q", "other", "HEAD~1")
    git(home, "config", "branch.work.remote", ".")
    git(home, "config", "branch.work.merge", "refs/heads/other")
    seen = await _only(agent)
    assert (seen["upstream"], seen["compared_to"], seen["ahead"], seen["behind"]) == ("other", "other", 1, 0)


async def test_a_repository_without_a_commit_has_its_branch_and_its_files(agent: AgentProcess):
    home = repository(agent.home, commit=False)
    (home / "staged").write_text("1\n")
    git(home, "add", ".")
    (home / "new").write_text("1\n2\n")

    seen = await _only(agent)
    assert (seen["branch"], seen["head"], seen["base_changes"]) == ("main", "", None)
    assert _files(seen["changes"]) == {"staged": ("added", 1, 0), "new": ("untracked", 2, 0)}


async def test_a_detached_head_has_no_branch_and_a_rebase_with_a_conflict_is_told(agent: AgentProcess):
    home = repository(agent.home)
    git(home, "checkout", "-q", "-b", "work")
    (home / "a.txt").write_text("mine\n")
    git(home, "commit", "-q", "-am", "mine")
    git(home, "checkout", "-q", "main")
    (home / "a.txt").write_text("theirs\n")
    git(home, "commit", "-q", "-am", "theirs")
    git(home, "checkout", "-q", "--detach")
    assert (await _only(agent))["branch"] == ""
    git(home, "checkout", "-q", "work")
    git(home, "rebase", "main", check=False)

    seen = await _only(agent)
    assert (seen["branch"], seen["operation"]) == ("", "rebase")
    assert _files(seen["changes"])["a.txt"][0] == "unmerged"
    diff = await agent.ask("GET", "/git/diff", query={"root": str(home)})
    assert diff.status == 200


async def test_further_working_trees_submodules_and_bare_repositories_are_repositories(
    agent: AgentProcess, tmp_path: Path
):
    main, inner = repository(tmp_path / "main"), repository(tmp_path / "inner")
    git(main, "worktree", "add", "-q", "-b", "side", str(tmp_path / "tree"))
    git(main, "-c", "protocol.file.allow=always", "submodule", "add", "-q", str(inner), "sub")
    git(main, "commit", "-q", "-m", "sub")
    git(tmp_path, "clone", "-q", "--bare", str(inner), "bare.git")
    for place in ("tree/f", "main/sub/f", "bare.git/description"):
        await _touch(agent, tmp_path / place)

    seen = {Path(one["root"]).name: one for one in await _repositories(agent)}
    assert set(seen) == {"tree", "sub", "bare.git"}
    assert seen["tree"]["branch"] == "side"
    assert _files(seen["sub"]["changes"]) == {"f": ("untracked", 1, 0)}
    assert (seen["bare.git"]["is_bare"], seen["bare.git"]["branch"]) == (True, "main")
    assert not any(one["error"] for one in seen.values())
    await _touch(agent, main / ".git" / "description")
    assert "main" in {Path(one["root"]).name for one in await _repositories(agent)}


async def test_names_that_are_no_text_stay_what_they_are(agent: AgentProcess, tmp_path: Path):
    place = repository(Path(str(tmp_path / "r") + "\udcff"))
    (place / "a\udcfe\n").write_text("1\n")
    (place / "b\udcfd").write_text("1\n")
    git(place, "add", "b\udcfd".encode("utf-8", "surrogateescape"))
    await _touch(agent, place / "c")

    seen = await _only(agent)
    assert seen["root"] == str(place)
    assert set(_files(seen["changes"])) == {"a\udcfe\n", "b\udcfd", "c"}
    diff = await agent.ask("GET", f"/git/diff?root={quote(bytes(place))}")
    assert diff.status == 200, diff.body
    assert '"b/a�\\n"' in diff.json["diff"]


async def test_a_diff_has_what_is_committed_staged_unstaged_and_new(agent: AgentProcess, tmp_path: Path):
    home = cloned(agent.home, repository(tmp_path / "origin"))
    git(home, "checkout", "-q", "-b", "work")
    (home / "c").write_text("committed\n")
    git(home, "add", ".")
    git(home, "commit", "-q", "-m", "c")
    (home / "a.txt").write_text("one\ntwo\n3\n")
    (home / "new file").write_text("é\nlast")
    (home / "binary").write_bytes(b"\0" * 10)
    (home / "link").symlink_to("/etc/passwd")

    head = (await agent.ask("GET", "/git/diff", query={"root": str(home)})).json
    default = (await agent.ask("GET", "/git/diff", query={"root": str(home), "base": "default"})).json

    assert head["is_complete"]
    assert head["files"] == 4
    for line in (
        "-three\n+3\n",
        "+é\n+last\n\\ No newline at end of file\n",
        "Binary files /dev/null and b/binary differ",
    ):
        assert line in head["diff"]
    assert "new file mode 120000\n--- /dev/null\n+++ b/link\n@@ -0,0 +1 @@\n+/etc/passwd" in head["diff"]
    assert "committed" not in head["diff"]
    assert "+committed\n" in default["diff"]
    patch = tmp_path / "patch"
    patch.write_text("".join(p for p in _pieces(head["diff"]) if "Binary" not in p))
    git(cloned(tmp_path / "again", home), "apply", str(patch))
    assert (tmp_path / "again" / "new file").read_text() == "é\nlast"


def _pieces(diff: str) -> list[str]:
    first, *rest = diff.split("\ndiff --git ")
    return [first + "\n", *(f"diff --git {piece}\n" for piece in rest)] if rest else [first]


@pytest.mark.parametrize(
    ("query", "status"),
    [
        ({"root": "relative"}, 400),
        ({"root": "/"}, 404),
        ({"root": "/nowhere/at/all"}, 404),
        ({"root": "/etc/passwd"}, 404),
        ({"root": "/" + "x" * 5000}, 400),
        ({"root": "/a\0b"}, 400),
        ({"root": "--output=/etc/passwd"}, 400),
        ({"root": "/", "base": "HEAD; rm"}, 400),
        ({"root": "/", "most_bytes": "1"}, 400),
        ({"root": "/", "other": "1"}, 400),
    ],
)
async def test_roots_that_are_none_are_refused(agent: AgentProcess, query: dict[str, str], status: int):
    assert (await agent.ask("GET", "/git/diff", query=query)).status == status


async def test_without_git_it_is_said_that_git_is_missing(tmp_path: Path):
    (tmp_path / "bin").mkdir()
    repository(tmp_path / "home")
    async with running_agent(tmp_path / "agent", env={"PATH": str(tmp_path / "bin")}) as agent:
        for path in ("/git/repositories", "/git/watch", f"/git/diff?root={agent.home}"):
            reply = await agent.ask("GET", path)
            assert (reply.status, reply.json["kind"]) == (501, "git_missing")


async def test_a_broken_repository_says_so_and_the_others_are_told(agent: AgentProcess, tmp_path: Path):
    fine, broken = repository(tmp_path / "fine"), repository(tmp_path / "broken")
    (broken / ".git" / "config").write_text("[core\n")
    (tmp_path / "none" / ".git").mkdir(parents=True)
    for place in (fine, broken, tmp_path / "none"):
        await _touch(agent, place / "f")

    seen = {Path(one["root"]).name: one["error"] for one in await _repositories(agent)}
    assert seen.keys() == {"fine", "broken"}
    assert seen["fine"] is None
    assert "config" in seen["broken"]


async def test_a_repository_with_very_many_new_files_is_bounded(agent: AgentProcess):
    home = repository(agent.home)
    for number in range(3_000):
        (home / f"f{number}").touch()

    changes = (await _only(agent))["changes"]
    assert (changes["total_files"], len(changes["files"]), changes["is_complete"]) == (3_000, 1000, False)
    diff = (await agent.ask("GET", "/git/diff", query={"root": str(home), "most_bytes": "65536"})).json
    assert len(diff["diff"].encode()) <= 65_536
    assert (diff["files"], diff["is_complete"]) == (3_000, False)


@pytest.mark.parametrize("files", [10_000, pytest.param(100_000, marks=pytest.mark.long)])
async def test_a_repository_of_very_many_files_is_bounded(agent: AgentProcess, files: int):
    home = repository(agent.home)
    blob = git(home, "rev-parse", "HEAD:a.txt")
    entries = "".join(f"100644 {blob}\tfolder{n % 3000}/a-rather-long-name-of-a-file-{n}\n" for n in range(files))
    git(home, "update-index", "--index-info", given=entries)
    git(home, "commit", "-q", "-m", "many")

    seen = await _only(agent)
    changes = seen["changes"]
    assert seen["error"] is None
    assert len(changes["files"]) == 1000
    assert changes["total_files"] == files if changes["is_complete"] else changes["total_files"] > 10_000
    assert changes["is_complete"] == (files < 50_000)
    diff = (await agent.ask("GET", "/git/diff", query={"root": str(home)})).json
    assert len(diff["diff"]) <= 1024 * 1024
    assert not diff["is_complete"]
    watched = (await agent.ask("GET", "/git/watch")).json
    assert not watched["is_watched"]
    assert int(Path(f"/proc/{agent.pid}/statm").read_text().split()[1]) * 4096 < 400_000_000  # noqa: ASYNC240
