"""The offline commands: accounts, tokens, keys and settings, beside a running server."""

from pathlib import Path
from typing import Any

from chatd.testing.git_host_server import TOKEN, git_host_server
from cli.running import PASSWORD, Finished, chatd, serving

ME = "/api/v2/users/me"


async def test_accounts_are_made_listed_and_repaired_beside_a_running_server(data_dir: Path):
    async def user(*arguments: str, stdin: str = "") -> Finished:
        return await chatd("user", *arguments, "--data-dir", str(data_dir), cwd=data_dir.parent, stdin=stdin)

    async with serving(data_dir) as server:
        create = ["create", "--email", "ada@example.com", "--username", "ada"]
        first = await user(*create, stdin=f"{PASSWORD}\n")
        again = await user(*create, stdin=f"{PASSWORD}\n")
        weak = await user("create", "--email", "b@example.com", "--username", "ben", stdin="short\n")
        token = await server.sign_in()
        assert (await server.call("GET", ME, token=token))[1]["role"] == "owner"
        last = await user("role", "ada", "member")
        second = await user("create", "--email", "b@x", "--username", "ben", "--role", "owner", stdin=PASSWORD)
        assert (await user("suspend", "ada")).out == "ada is now suspended.\n"
        listed = await user("list")
        as_json = await user("list", "--json")
        assert (await user("activate", "ada@example.com")).code == 0
        changed = await user("password", "ada", stdin="a whole new password\n")
        unknown = await user("password", "nobody", stdin="a whole new password\n")

    assert first.out == "Created ada (owner).\n"
    assert (again.code, "already used" in again.err) == (1, True)
    assert (weak.code, "8 to 1024 characters" in weak.err) == (1, True)
    assert (last.code, "last active owner" in last.err) == (1, True)
    assert second.code == 0
    assert [line.split()[:4] for line in listed.out.splitlines()[1:]] == [
        ["ada", "ada@example.com", "owner", "suspended"],
        ["ben", "b@x", "owner", "active"],
    ]
    assert '"username": "ada"' in as_json.out
    assert changed.code == 0
    assert (unknown.code, "nobody" in unknown.err) == (1, True)
    assert "Traceback" not in again.err + weak.err + last.err + unknown.err


async def test_tokens_work_at_once_and_stop_when_revoked(data_dir: Path):
    async def token(*arguments: str) -> Finished:
        return await chatd("token", *arguments, "--data-dir", str(data_dir), cwd=data_dir.parent)

    async with serving(data_dir, CHATD_TOKEN_CACHE_SECONDS="0") as server:
        await server.create_first_user()
        made = await token("create", "ada", "--name", "laptop", "--scope", "user:read")
        key = made.out.strip()
        assert (await server.call("GET", ME, token=key))[0] == 200
        listed = await token("list", "ada")
        revoked = await token("revoke", "ada", "LAPTOP")
        assert (await server.call("GET", ME, token=key))[0] == 401
        missing = await token("revoke", "ada", "laptop")
        empty = await token("list", "ada")

    assert listed.out.splitlines()[1].split()[:2] == ["laptop", "user:read"]
    assert key not in listed.out
    assert (revoked.code, missing.code) == (0, 1)
    assert empty.out == "ada has no API tokens.\n"


async def test_keys_are_added_and_rotated_and_a_running_server_with_the_old_one_is_waited_for(data_dir: Path):
    async def keys(*arguments: str) -> Finished:
        return await chatd("keys", *arguments, "--data-dir", str(data_dir), cwd=data_dir.parent)

    async with serving(data_dir):
        added = await keys("add")
        refused = await keys("rotate")
    async with serving(data_dir):
        rotated = await keys("rotate")
        listed = await keys("list")
    file = data_dir / "encryption.keys"
    new, _ = [line for line in file.read_text().splitlines() if not line.startswith("#")]
    file.write_text(f"{new}\n")
    async with serving(data_dir) as server:
        status, _ = await server.call("GET", "/readyz")

    assert "Restart every server" in added.out
    assert (refused.code, "another key" in refused.err) == (1, True)
    assert rotated.code == 0, rotated.err
    assert "public.secrets.value" in rotated.out
    assert "encrypts and reads" in listed.out
    assert status == 200


async def test_a_new_key_is_printed(tmp_path: Path):
    made = [await chatd("keys", "new", cwd=tmp_path) for _ in range(2)]

    assert made[0].out != made[1].out
    assert len(made[0].out.strip()) == 44


async def test_settings_show_values_and_origins_but_no_secrets(tmp_path: Path):
    (tmp_path / "chatd.toml").write_text('log_level = "warning"\n')
    environ: dict[str, Any] = {
        "CHATD_DATABASE_URL": "postgresql://me:hunter2@db.example.com/chatd",
        "CHATD_BOOTSTRAP_ADMIN_EMAIL": "a@example.com",
        "CHATD_BOOTSTRAP_ADMIN_PASSWORD": "hunter22hunter22",
        "COLUMNS": "200",
    }
    shown = await chatd("settings", "--port", "8080", cwd=tmp_path, **environ)

    assert shown.code == 0, shown.err
    lines = {line.split()[0]: line for line in shown.out.splitlines()[1:]}
    assert "8080" in lines["port"]
    assert "--port" in lines["port"]
    assert "warning" in lines["log_level"]
    assert "chatd.toml" in lines["log_level"]
    assert "db.example.com" in lines["database_url"]
    assert "hunter2" not in shown.out


async def test_the_version_is_shown(tmp_path: Path):
    import chatd as package

    assert (await chatd("--version", cwd=tmp_path)).out.strip() == package.__version__


async def test_a_command_in_the_wrong_folder_makes_no_new_database(tmp_path: Path):
    refused = await chatd("user", "list", cwd=tmp_path)

    assert (refused.code, "There is no chatd in" in refused.err) == (1, True)
    assert not (tmp_path / ".chatd").exists()


async def test_names_with_markup_are_shown_as_they_are(data_dir: Path):
    async with serving(data_dir) as server:
        token = await server.create_first_user()
        made = await server.call("POST", f"{ME}/tokens", {"name": "[/x] [red]"}, token)
        listed = await chatd("token", "list", "ada", "--data-dir", str(data_dir), cwd=data_dir.parent)

    assert made[0] == 201
    assert "[/x] [red]" in listed.out


async def test_hosts_of_repositories_are_configured_beside_a_running_server(data_dir: Path):
    async def providers(*arguments: str, stdin: str = "") -> Finished:
        return await chatd("git-providers", *arguments, "--data-dir", str(data_dir), cwd=data_dir.parent, stdin=stdin)

    async with serving(data_dir), git_host_server() as host:
        empty = await providers("list")
        added = await providers("add", "github.test", "--api-url", host.github_url, stdin=f"{TOKEN}\n")
        tested = await providers("test", "github.test")
        listed = await providers("list")
        moved = await providers("change", "github.test", "--api-url", "https://elsewhere.test")
        wrong = await providers("change", "github.test", "--token", stdin="wrong\n")
        refused = await providers("test", "github.test")
        removed = await providers("remove", "github.test")
        missing = await providers("remove", "github.test")

    assert empty.out.startswith("No git providers.")
    assert added.out == f"Added github.test (github, {host.github_url}).\n"
    assert tested.out == "github.test knows the token of chatd-bot.\n"
    assert [line.split()[:4] for line in listed.out.splitlines()[1:]] == [
        ["github.test", "github", host.github_url, "yes"]
    ]
    assert (moved.code, "token" in moved.err) == (1, True)
    assert wrong.code == 0
    assert (refused.code, "refused the token" in refused.err) == (1, True)
    assert removed.out == "Removed github.test.\n"
    assert (missing.code, "not configured" in missing.err) == (1, True)
    assert TOKEN not in f"{listed} {added} {moved}"
