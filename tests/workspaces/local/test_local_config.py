"""What a template may say about its local workspaces."""

from pathlib import Path

import pytest

from chatd.core.errors import InvalidRequest
from chatd.workspaces.local.config import LocalConfig, read_local_config
from workspaces.local.running import local


def test_without_a_word_public_addresses_are_reached_and_memory_and_processes_are_limited():
    assert read_local_config("") == read_local_config("{}") == LocalConfig()
    assert LocalConfig().network == "allow_list"
    assert LocalConfig().allow == ("*",)
    assert LocalConfig().memory_mb is not None
    assert LocalConfig().processes is not None


@pytest.mark.parametrize(
    "config",
    [
        '{"netwrok": "off"}',
        '{"network": "closed"}',
        '{"memory_mb": 1}',
        '{"processes": 0}',
        '{"cpus": 0}',
        '{"allow": ["http://example.org"]}',
        '{"read_only_paths": ["relative"]}',
        '{"read_only_paths": ["/usr/../root"]}',
        '{"read_only_paths": ["/etc"]}',
        '{"environment": {"A B": "c"}}',
        '{"environment": {"CHATD_TOKEN": "c"}}',
        "[]",
        "{",
    ],
)
def test_what_can_not_work_is_refused(tmp_path: Path, config: str):
    with pytest.raises(InvalidRequest, match="config can't be used"):
        local(tmp_path / "workspaces").check(config)


def test_a_fault_names_its_field(tmp_path: Path):
    with pytest.raises(InvalidRequest) as refused:
        local(tmp_path / "workspaces").check('{"allow": ["example.org", "http://x"], "environment": {"1": ""}}')

    assert [fault.field for fault in refused.value.validations] == ["environment.1", "allow.1"]
