"""`chatd keys`: the keys that encrypt secrets at rest."""

import sys

import typer

from chatd.cli.offline import ConfigOption, DataDirOption, Offline, run_offline
from chatd.core.errors import StartRefused
from chatd.store.cipher import EncryptionKey, new_key_text
from chatd.store.custom_queries import EncryptedColumn
from chatd.store.keys import KEY_FILE, read_key_file, write_key_file
from chatd.store.rotation import Rotated, rotate

app = typer.Typer(name="keys", help="Make and rotate the keys that encrypt stored secrets.", no_args_is_help=True)


@app.command()
def new() -> None:
    """Print a new key for CHATD_ENCRYPTION_KEYS."""
    print(new_key_text())


@app.command()
def add(config: ConfigOption = None, data_dir: DataDirOption = None) -> None:
    """Put a new key first into the data directory's key file. Servers use it after their next start."""

    async def act(offline: Offline) -> str:
        if offline.loaded.settings.encryption_keys:
            raise StartRefused(
                "CHATD_ENCRYPTION_KEYS is set, so the key file is not used.",
                detail="Make a key with `chatd keys new` and put it first there.",
            )
        path = offline.loaded.settings.data_dir / KEY_FILE
        key = new_key_text()
        write_key_file(path, [key, *read_key_file(path)])
        return EncryptionKey.from_text(key).id

    added = run_offline(act, config=config, data_dir=data_dir)
    print(f"Added key {added}. Restart every server, then run `chatd keys rotate`.")


@app.command("rotate")
def rotate_(config: ConfigOption = None, data_dir: DataDirOption = None) -> None:
    """Encrypt every stored secret with the first key. Afterwards the other keys are not needed."""

    async def act(offline: Offline) -> tuple[str, list[Rotated]]:
        from rich.progress import Progress, TextColumn

        with Progress(TextColumn("{task.description}"), transient=True, disable=not sys.stderr.isatty()) as progress:
            task = progress.add_task("looking for secrets", total=None)

            def say(column: EncryptedColumn, done: int) -> None:
                progress.update(task, description=f"{column.table}.{column.column}: {done}")

            cipher = offline.opened.cipher
            return cipher.primary.id, await rotate(offline.store, cipher, progress=say)

    key_id, report = run_offline(act, config=config, data_dir=data_dir)
    for done in report:
        print(f"{done.column.table}.{done.column.column}: {done.values} re-encrypted")
    print(f"Every stored secret is under key {key_id}. Other keys can be removed.")


@app.command("list")
def list_(config: ConfigOption = None, data_dir: DataDirOption = None) -> None:
    """Show the ids of the keys in use: the configured ones and those the database knows."""

    async def act(offline: Offline) -> list[str]:
        cipher = offline.opened.cipher
        lines = [f"{id}  {'encrypts and reads' if id == cipher.primary.id else 'reads'}" for id in cipher.key_ids]
        stored = await offline.store.list_encryption_keys()
        return lines + [f"{row.id}  revoked" for row in stored if row.id not in cipher.key_ids]

    for line in run_offline(act, config=config, data_dir=data_dir):
        print(line)


def register(root: typer.Typer) -> None:
    root.add_typer(app)
