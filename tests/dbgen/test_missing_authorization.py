"""A method deleted from this repository's AuthorizedStore is noticed by its suite, and comes back refusing."""

import importlib.util
import shutil
from pathlib import Path
from typing import Any

import libcst as cst
import pytest
from dbgen.hand_written import read_interface
from dbgen.layout import Layout, own_layout
from dbgen.outputs.authorized import authorized_py

from chatd.core.errors import NotWritten
from chatd.store.authorized import AuthorizedStore
from store.test_authorization import test_every_method_is_in_every_layer as check_every_layer

DELETED = ["get_group_by_id", "list_announced_keys"]


class _Without(cst.CSTTransformer):
    def __init__(self, name: str) -> None:
        self._name = name

    def leave_FunctionDef(  # noqa: N802  (libcst calls it by this name)
        self, original_node: cst.FunctionDef, updated_node: cst.FunctionDef
    ) -> cst.FunctionDef | cst.RemovalSentinel:
        return cst.RemoveFromParent() if original_node.name.value == self._name else updated_node


@pytest.fixture
def copy(tmp_path: Path) -> Layout:
    """What dbgen reads of this repository to write authorized.py."""
    own = own_layout()
    for name in ("queries.py", "custom_queries.py", "store.py", "authorized.py"):
        shutil.copy(own.file(name), tmp_path / name)
    return Layout(root=own.root, store=tmp_path)


def written(layout: Layout) -> str:
    queries = read_interface(layout, "queries.py", "Queries")
    return authorized_py([*queries, *read_interface(layout, "custom_queries.py", "CustomQueries")], layout)


def imported(path: Path) -> Any:
    """A file as a module that no other finds."""
    spec = importlib.util.spec_from_file_location("authorized_again", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.behaviour("STORE-1")
@pytest.mark.parametrize("deleted", DELETED)
async def test_a_deleted_authorization_comes_back_as_a_stub_that_refuses(copy: Layout, deleted: str):
    path = copy.file("authorized.py")
    whole = path.read_text()
    path.write_text(cst.parse_module(whole).visit(_Without(deleted)).code)
    assert f"async def {deleted}(" not in path.read_text()

    text = written(copy)

    assert f'raise NotWritten("{deleted}")' in text
    path.write_text(text)
    remade = imported(path).AuthorizedStore
    store = remade(None, None)
    arguments = {"id": None} if deleted == "get_group_by_id" else {}
    with pytest.raises(NotWritten, match=deleted):
        await getattr(store, deleted)(**arguments)
    order = [name for name in vars(remade) if not name.startswith("_")]
    assert order == [name for name in vars(AuthorizedStore) if not name.startswith("_")]


@pytest.mark.behaviour("STORE-1")
@pytest.mark.parametrize("deleted", DELETED)
def test_the_suite_fails_without_an_authorization(monkeypatch: pytest.MonkeyPatch, deleted: str):
    check_every_layer()

    monkeypatch.delattr(AuthorizedStore, deleted)

    with pytest.raises(AssertionError):
        check_every_layer()
