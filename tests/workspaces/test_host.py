"""A machine has one id, made once and for the owner's eyes only."""

import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from chatd.core.errors import StartRefused
from chatd.workspaces.host import read_host_id


def test_all_who_start_at_once_have_the_same_id_and_it_stays(tmp_path: Path):
    folder = tmp_path / "data"
    with ThreadPoolExecutor(8) as threads:
        found = set(threads.map(read_host_id, [folder] * 32))

    assert found == {read_host_id(folder)}
    assert [path.name for path in folder.iterdir()] == ["host_id"]
    assert stat.S_IMODE((folder / "host_id").stat().st_mode) == 0o600
    assert read_host_id(tmp_path / "other") not in found


@pytest.mark.parametrize("content", [b"", b"short\n", b"\xff" * 32])
def test_a_file_that_holds_no_id_is_refused(content: bytes, tmp_path: Path):
    (tmp_path / "host_id").write_bytes(content)

    with pytest.raises(StartRefused, match="host_id"):
        read_host_id(tmp_path)
