"""Postgres' files: where they go, how they are made in one step, and whether this Postgres can open them."""

import hashlib
import os
import secrets
import shutil
import subprocess
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from chatd.store.keeper.account import SHARED, USER_NAME, Account, postgres_account, reachable_programs, shared_folder
from chatd.store.keeper.child import end_with_parent
from chatd.store.keeper.files import KeeperError, check_owner, private_folder, read_own, write_own
from chatd.store.keeper.paths import DataDirectory, PostgresHome, connectable, traversable_mode

NAME = "chatd"  # the database and its owner
_INITDB_SECONDS = 300  # takes one second; a slow network disk may need minutes
_UNFINISHED = "data.unfinished-"
_PASSWORD_FILE = "password.unfinished-"


@dataclass(frozen=True)
class Cluster:
    """Everything decided before Postgres starts."""

    home: PostgresHome
    sockets: Path
    programs: Path
    account: Account
    notes: tuple[str, ...]


def prepare(directory: DataDirectory, binaries: Path, version: str, settings: Mapping[str, str]) -> Cluster:
    """Make or check the files; the caller holds the keeper's lock. Raises KeeperError with what to do."""
    account = postgres_account()
    home, notes = _choose_home(directory, account)
    programs = reachable_programs(binaries, version, account)
    if programs != binaries:
        notes += (f"The user {USER_NAME} can't reach {binaries}; copies in {programs} are used.",)
    _clear_unfinished(home)
    if (home.data / "PG_VERSION").exists():
        _check_files(home, version, account)
    else:
        _make_files(directory, home, programs, account, durable=settings.get("fsync") != "off")
    if directory.next_password.exists() or not directory.password.exists():
        _replace_password(directory, home, programs, account)
    return Cluster(home, _socket_folder(directory, home, account), programs, account, notes)


def _choose_home(directory: DataDirectory, account: Account) -> tuple[PostgresHome, tuple[str, ...]]:
    """In the data directory if the account can get there, else below /var/lib. Decided once."""
    inside = PostgresHome(directory.path / "postgres")
    if directory.location.exists():
        elsewhere = PostgresHome(Path(read_own(directory.location).strip()))
        if not elsewhere.path.is_dir():
            raise KeeperError(
                f"{directory.location} says that the database files are in {elsewhere.path}, but there is "
                "no such folder. Put it back; remove the file only to begin with an empty database."
            )
        check_owner(elsewhere.path)
        return elsewhere, (_elsewhere_note(directory, elsewhere),)
    private_folder(inside.path, mode=traversable_mode(), uid=os.geteuid())
    if not account.switch or account.can((inside.path / "..").stat):
        return inside, ()
    if inside.data.exists():
        raise KeeperError(
            f"The user {USER_NAME} can't reach {inside.path}. Let it pass through the folders "
            f"above (chmod o+x), or start chatd as the user who owns {inside.data}."
        )
    inside.path.rmdir()
    # Random as well: a new data directory at an old path must not find the old one's database.
    name = hashlib.sha256(bytes(directory.path) + secrets.token_bytes(16)).hexdigest()[:16]
    folder = shared_folder() / name
    elsewhere = PostgresHome(private_folder(folder, mode=traversable_mode(), uid=os.geteuid()))
    if not account.can((elsewhere.path / "..").stat):
        elsewhere.path.rmdir()
        raise KeeperError(
            f"The user {USER_NAME} can reach neither {directory.path} nor {SHARED}. "
            "Choose a data directory that other users can pass through (chmod o+x on the folders above)."
        )
    write_own(directory.location, f"{elsewhere.path}\n")
    return elsewhere, (_elsewhere_note(directory, elsewhere),)


def _elsewhere_note(directory: DataDirectory, home: PostgresHome) -> str:
    return (
        f"The user {USER_NAME} could not reach {directory.path}; the database files are in "
        f"{home.path}. Back up both folders."
    )


def _check_files(home: PostgresHome, version: str, account: Account) -> None:
    made_by = read_own(home.data / "PG_VERSION").strip()
    major = version.split(".", maxsplit=1)[0]
    if made_by != major:
        raise KeeperError(
            f"The database files in {home.data} are of Postgres {made_by}, but the programs are Postgres "
            f"{version}. Start with Postgres {made_by} programs, or dump the database with {made_by} and "
            f"restore it into an empty data directory with {major}."
        )
    owner = home.data.stat().st_uid
    if owner != account.uid:
        raise KeeperError(
            f"The database files in {home.data} belong to the OS user {owner}, but Postgres would run as "
            f"{account.uid}. Start chatd as the user it was first started as, or change the owner of that "
            "folder and everything in it."
        )


def _make_files(
    directory: DataDirectory, home: PostgresHome, programs: Path, account: Account, *, durable: bool
) -> None:
    """Under another name, then renamed: a kill in the middle leaves nothing that looks like a database."""
    if home.data.exists():
        raise KeeperError(f"{home.data} exists but holds no database. Look what it is and move it away.")
    password = _new_password()
    write_own(directory.password, password)
    unfinished = Path(tempfile.mkdtemp(prefix=_UNFINISHED, dir=home.path))
    account.own(unfinished)
    handle, password_file = tempfile.mkstemp(prefix=_PASSWORD_FILE, dir=home.path)
    with os.fdopen(handle, "w") as file:
        file.write(password)
    account.own(Path(password_file))
    try:
        _run(
            [
                programs / "initdb",
                f"--pgdata={unfinished}",
                f"--username={NAME}",
                "--auth=scram-sha-256",
                f"--pwfile={password_file}",
                "--encoding=UTF8",
                "--no-locale",  # the order of text is the same on every machine and version
                *([] if durable else ["--no-sync"]),
            ],
            account,
        )
    finally:
        Path(password_file).unlink()
    _run_sql(unfinished, programs, account, f"CREATE DATABASE {NAME}")
    unfinished.rename(home.data)


def _new_password() -> str:
    return secrets.token_hex(32)


def _replace_password(directory: DataDirectory, home: PostgresHome, programs: Path, account: Account) -> None:
    """The password file was lost; whoever owns the files may set a new one. Cut short, it is done again."""
    password = _new_password()
    write_own(directory.next_password, password)
    _run_sql(home.data, programs, account, f"ALTER ROLE {NAME} PASSWORD '{password}'", secret=password)
    directory.next_password.rename(directory.password)


def _run_sql(data: Path, programs: Path, account: Account, statement: str, *, secret: str = "") -> None:
    """In a standalone backend: nobody else can be connected."""
    _run(
        [programs / "postgres", "--single", "-c", "exit_on_error=on", "-D", data, "postgres"],
        account,
        given=statement + "\n",
        secret=secret,
    )


def _run(command: list[str | Path], account: Account, *, given: str = "", secret: str = "") -> None:
    """Raises KeeperError with its last words, `secret` taken out: Postgres repeats a statement that fails."""
    done = subprocess.run(
        command,
        input=given,
        capture_output=True,
        text=True,
        errors="replace",
        timeout=_INITDB_SECONDS,
        check=False,
        cwd="/",
        env={"PATH": os.defpath, "LC_ALL": "C"},
        preexec_fn=end_with_parent(),  # the keeper has one thread, so running Python after fork is safe
        user=account.user,
        group=account.group,
        extra_groups=account.groups,
    )
    if done.returncode != 0:
        told = (done.stderr or done.stdout).strip()
        last = " ".join((told.replace(secret, "...") if secret else told).splitlines()[-5:])
        program = Path(command[0]).name
        raise KeeperError(f"{program} ended with code {done.returncode}: {last[:2000]}")


def _clear_unfinished(home: PostgresHome) -> None:
    for left in (*home.path.glob(f"{_UNFINISHED}*"), *home.path.glob(f"{_PASSWORD_FILE}*")):
        if left.is_dir():
            shutil.rmtree(left, ignore_errors=True)  # a dying initdb may still write; the next start removes the rest
        else:
            left.unlink(missing_ok=True)


def _socket_folder(directory: DataDirectory, home: PostgresHome, account: Account) -> Path:
    folder = home.sockets
    temporary = not connectable(folder)
    if temporary:
        folder = directory.short_folder() / "postgres"
    if not connectable(folder):
        raise KeeperError(f"Sockets can't be made in {folder.parent}. Set TMPDIR to a short path without a comma.")
    return private_folder(folder, mode=0o700, uid=account.uid, gid=account.gid, temporary=temporary)
