"""The encryption keys of a deployment: where they come from, and the proof that they are the right ones."""

import os
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from chatd.core.errors import StartRefused, UnreadableSecret
from chatd.core.secret import Secret
from chatd.store.cipher import Cipher, EncryptionKey, new_key_text
from chatd.store.store import Store

KEY_FILE: Final = "encryption.keys"
_CANARY: Final = "chatd canary"


def load_cipher(configured: Sequence[Secret], data_dir: Path, *, in_use: Sequence[str]) -> Cipher:
    """The configured keys, else those of the data directory's key file, which is made at the first start.

    A new key would be of no use to a database that holds secrets under others (`in_use`): it is not made.
    """
    path = data_dir / KEY_FILE
    try:
        if configured:
            texts = [key.reveal() for key in configured]
        else:
            if in_use and not path.exists():
                raise StartRefused(
                    f"The key file {path} is missing, and this database holds secrets under key {', '.join(in_use)}.",
                    detail="Restore the file from a backup, or put its key into CHATD_ENCRYPTION_KEYS.",
                )
            texts = read_key_file(path) if path.exists() else [_make_key_file(path)]
        return Cipher([EncryptionKey.from_text(text) for text in texts])
    except ValueError as error:
        source = "CHATD_ENCRYPTION_KEYS" if configured else str(path)
        raise StartRefused(f"{source}: {error}.", detail="Make one with `chatd keys new`.") from error
    except OSError as error:
        raise StartRefused(f"The key file {path} can't be used: {error.strerror}.") from error


def read_key_file(path: Path) -> list[str]:
    """One key a line, the first encrypts; lines that start with # are remarks."""
    lines = (line.strip() for line in path.read_text("utf-8", errors="replace").splitlines())
    return [line for line in lines if line and not line.startswith("#")]


def write_key_file(path: Path, keys: Sequence[str]) -> None:
    """Replace the file in one step, readable by its owner only."""
    draft = _draft_key_file(path, keys)
    try:
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)


def _make_key_file(path: Path) -> str:
    """Of several servers that start at once on an empty directory one makes the file and all read it."""
    key = new_key_text()
    draft = _draft_key_file(path, [key])
    try:
        os.link(draft, path)
    except FileExistsError:
        return read_key_file(path)[0]
    finally:
        draft.unlink()
    return key


def _draft_key_file(path: Path, keys: Sequence[str]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor, draft = tempfile.mkstemp(prefix=f"{path.name}.", dir=path.parent)  # mode 0600
    remark = "# Encryption keys, the first encrypts. Without them the stored secrets are lost: back this up.\n"
    with os.fdopen(descriptor, "w", encoding="ascii") as file:
        file.write(remark + "\n".join(keys) + "\n")
        file.flush()
        os.fsync(file.fileno())
    return Path(draft)


def stored_cipher(configured: Sequence[Secret], data_dir: Path) -> Cipher | None:
    """As load_cipher, but nothing is made: None when there are no keys yet. Raises StartRefused."""
    if not configured and not (data_dir / KEY_FILE).exists():
        return None
    return load_cipher(configured, data_dir, in_use=())


async def check_keys(store: Store, cipher: Cipher) -> None:
    """Refuse keys that can't read what this database holds; remember the primary for the next start."""
    await check_canaries(store, cipher)
    await store.insert_encryption_key(id=cipher.primary.id, canary=cipher.primary.seal(_CANARY))


async def check_canaries(store: Store, cipher: Cipher) -> None:
    """Refuse keys that can't read what this database holds. Raises StartRefused."""
    for row in await store.list_encryption_keys():
        if row.revoked_at is not None:
            continue
        if row.id not in cipher.key_ids:
            raise StartRefused(
                f"This database holds secrets under encryption key {row.id}, which is not among the configured keys "
                f"({', '.join(cipher.key_ids)}).",
                detail="Add that key to CHATD_ENCRYPTION_KEYS, or restore the key file of the data directory.",
            )
        try:
            readable = cipher.decrypt(Secret(row.canary)).reveal() == _CANARY
        except UnreadableSecret:
            readable = False
        if not readable:
            raise StartRefused(f"Encryption key {row.id} does not open its own test value: the database is damaged.")
