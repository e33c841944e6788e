"""The clouds' libraries are imported only when used, and named when they are missing."""

import subprocess
import sys

import pytest

from chatd.core.errors import InvalidRequest
from chatd.providers.hosts import ProviderKind
from providers.asking_hosts import host, request

MODEL = "us.anthropic.claude-sonnet-4-5-20250929-v1:0"


def test_the_clouds_libraries_are_imported_only_when_used():
    checked = (
        "import sys, chatd.providers.hosts, chatd.providers.asking, chatd.providers.probe\n"
        "print([name for name in ('botocore', 'google.auth', 'urllib3') if name in sys.modules])"
    )

    said = subprocess.run([sys.executable, "-c", checked], capture_output=True, text=True, check=True)

    assert said.stdout.strip() == "[]"


@pytest.mark.parametrize(
    ("kind", "module", "package"),
    [(ProviderKind.BEDROCK, "botocore.session", "botocore"), (ProviderKind.VERTEX, "google.auth", "google-auth")],
)
async def test_a_library_that_is_missing_is_named(
    kind: ProviderKind, module: str, package: str, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setitem(sys.modules, module, None)

    with pytest.raises(InvalidRequest, match=f"needs the package {package}") as caught:
        await host(kind, key="s", access_key_id="AKID").prepare(request(MODEL))
    assert caught.value.detail == f"Install it where chatd runs: pip install {package}"
