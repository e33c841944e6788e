"""The wrappers follow the interface and keep what was written in them by hand."""

import textwrap

import pytest
from dbgen.hand_written import read_interface
from dbgen.interface import Method
from dbgen.layout import Layout
from dbgen.outputs.authorized import authorized_py
from dbgen.outputs.metered import metered_py
from dbgen.problems import Refused

INTERFACE = '''
    """The interface."""

    import datetime as dt
    from collections.abc import AsyncIterator, Sequence
    from typing import Protocol
    from uuid import UUID


    class Row: ...


    class Queries(Protocol):
        async def get_a(self, *, id: UUID) -> Row: ...
        async def get_b(self, *, id: UUID, at: dt.datetime | None) -> "list[Row]": ...
        async def drop_c(self, *, ids: Sequence[int]) -> int: ...
        async def forget(self) -> None: ...
        def stream(self, first: int, *rest: int, **more: str) -> AsyncIterator[Row]: ...
    '''


def write(layout: Layout, file: str, text: str) -> None:
    layout.file(file).write_text(textwrap.dedent(text).lstrip("\n").replace("{package}", layout.package))


@pytest.fixture
def methods(layout: Layout) -> list[Method]:
    write(layout, "interface.py", INTERFACE)
    return read_interface(layout, "interface.py", "Queries")


def without(methods: list[Method], name: str) -> list[Method]:
    return [method for method in methods if method.name != name]


def class_of(text: str) -> str:
    return text[text.index("class ") :]


def imports_of(text: str) -> list[str]:
    return [line for line in text.splitlines() if line.startswith(("import ", "from "))]


@pytest.mark.behaviour("STORE-1")
def test_the_first_version_measures_every_query(layout: Layout, methods: list[Method]):
    text = metered_py(methods, layout)

    assert class_of(text) == (
        '''class MeteredStore:
    """A store that measures every query."""

    def __init__(self, inner: Store, meter: QueryMeter) -> None:
        self._inner = inner
        self._meter = meter

    @asynccontextmanager
    async def transaction(self) -> AsyncGenerator[Self]:
        async with self._inner.transaction() as tx:
            yield type(self)(tx, self._meter)

    async def ping(self) -> None:
        await self._inner.ping()

    async def get_a(self, *, id: UUID) -> Row:
        with self._meter.query("get_a"):
            return await self._inner.get_a(id=id)

    async def get_b(self, *, id: UUID, at: dt.datetime | None) -> "list[Row]":
        with self._meter.query("get_b"):
            return await self._inner.get_b(id=id, at=at)

    async def drop_c(self, *, ids: Sequence[int]) -> int:
        with self._meter.query("drop_c"):
            return await self._inner.drop_c(ids=ids)

    async def forget(self) -> None:
        with self._meter.query("forget"):
            await self._inner.forget()

    def stream(self, first: int, *rest: int, **more: str) -> AsyncIterator[Row]:
        return self._inner.stream(first, *rest, **more)
'''
    )
    assert "import datetime as dt" in imports_of(text)
    assert "from collections.abc import AsyncGenerator, AsyncIterator, Sequence" in imports_of(text)
    assert f"from {layout.package}.interface import Row" in imports_of(text)


@pytest.mark.behaviour("STORE-1")
def test_a_query_without_authorization_is_refused(layout: Layout, methods: list[Method]):
    text = authorized_py(methods[:1], layout)

    assert class_of(text).endswith(
        """
    async def get_a(self, *, id: UUID) -> Row:
        raise NotWritten("get_a")
"""
    )
    assert "from chatd.core.errors import NotWritten" in imports_of(text)


HAND_WRITTEN = '''
    """Who may do what."""

    from uuid import UUID

    from {package}.interface import Row
    from {package}.store import Store

    LIMIT   =   7   # kept, odd spacing and all


    def traced(function): return function


    class AuthorizedStore:
        """The outermost layer."""

        limit = LIMIT

        # Deleting needs more than reading.
        @traced
        async def drop_c(self, *, ids: str, old: int) -> int:  # tail
            # first this
            self._check( "drop" )   # then that

            return await self._inner.drop_c(ids=ids)
            # and this last

        def __init__(self, inner: Store) -> None:
            self._inner = inner

        # A private one.
        def _check(self, what):
            return what

        # Reading is easy.
        async def get_a(self, *, id: UUID) -> Row:
            return (await
                    self._inner.get_a(id=id))

        # The end.


    AFTER = 1  # also kept
    '''


@pytest.mark.behaviour("STORE-1")
def test_bodies_comments_and_decorators_are_kept_and_methods_put_in_order(layout: Layout, methods: list[Method]):
    write(layout, "authorized.py", HAND_WRITTEN)

    text = authorized_py(methods[:3], layout)

    assert class_of(text) == textwrap.dedent('''
        class AuthorizedStore:
            """The outermost layer."""

            limit = LIMIT

            def __init__(self, inner: Store) -> None:
                self._inner = inner

            # A private one.
            def _check(self, what):
                return what

            # Reading is easy.
            async def get_a(self, *, id: UUID) -> Row:
                return (await
                        self._inner.get_a(id=id))

            async def get_b(self, *, id: UUID, at: dt.datetime | None) -> "list[Row]":
                raise NotWritten("get_b")

            # Deleting needs more than reading.
            @traced
            async def drop_c(self, *, ids: Sequence[int]) -> int:  # tail
                # first this
                self._check( "drop" )   # then that

                return await self._inner.drop_c(ids=ids)
                # and this last

            # The end.


        AFTER = 1  # also kept
    ''').lstrip("\n")
    assert "LIMIT   =   7   # kept, odd spacing and all\n" in text
    assert "def traced(function): return function\n" in text
    assert "import datetime as dt" in imports_of(text)


def test_what_is_in_order_is_not_touched(layout: Layout, methods: list[Method]):
    write(layout, "authorized.py", HAND_WRITTEN)
    once = authorized_py(methods, layout)
    layout.file("authorized.py").write_text(once)

    assert authorized_py(methods, layout) == once


def test_a_generated_body_follows_its_signature(layout: Layout, methods: list[Method]):
    layout.file("metered.py").write_text(metered_py(methods, layout))
    write(layout, "interface.py", INTERFACE.replace("ids: Sequence[int]", "ids: Sequence[int], name: str"))

    text = metered_py(read_interface(layout, "interface.py", "Queries"), layout)

    assert "async def drop_c(self, *, ids: Sequence[int], name: str) -> int:" in text
    assert "self._inner.drop_c(ids=ids, name=name)" in text


def test_a_generated_body_with_a_comment_is_kept(layout: Layout, methods: list[Method]):
    first = metered_py(methods, layout)
    layout.file("metered.py").write_text(
        first.replace("return await self._inner.drop_c", "# why\n            return await self._inner.drop_c")
    )
    write(layout, "interface.py", INTERFACE.replace("ids: Sequence[int]", "ids: Sequence[int], name: str"))

    text = metered_py(read_interface(layout, "interface.py", "Queries"), layout)

    assert "async def drop_c(self, *, ids: Sequence[int], name: str) -> int:" in text
    assert "# why\n            return await self._inner.drop_c(ids=ids)\n" in text


def test_an_import_that_no_signature_needs_any_more_goes(layout: Layout, methods: list[Method]):
    layout.file("metered.py").write_text(metered_py(methods, layout))

    text = metered_py(without(methods, "get_b"), layout)

    assert "import datetime as dt" not in text
    assert "get_b" not in text


@pytest.mark.behaviour("STORE-1")
@pytest.mark.parametrize("gone", ["get_a", "drop_c"])
def test_an_unedited_method_goes_with_its_query(layout: Layout, methods: list[Method], gone: str):
    for file, write_layer in (("metered.py", metered_py), ("authorized.py", authorized_py)):
        layout.file(file).write_text(write_layer(methods, layout))

        assert f"def {gone}" not in write_layer(without(methods, gone), layout)


@pytest.mark.behaviour("STORE-1")
@pytest.mark.parametrize("gone", ["get_a", "drop_c"])
def test_a_method_written_by_hand_is_not_deleted_with_its_query(layout: Layout, methods: list[Method], gone: str):
    write(layout, "authorized.py", HAND_WRITTEN)
    layout.file("authorized.py").write_text(authorized_py(methods, layout))

    with pytest.raises(Refused, match=f"^authorized.py: {gone}: its query is gone; delete the method by hand$"):
        authorized_py(without(methods, gone), layout)


@pytest.mark.behaviour("STORE-1")
def test_methods_in_sibling_files_are_left_alone(layout: Layout, methods: list[Method]):
    write(
        layout,
        "authorized_reading.py",
        """
        class _Deep:
            async def drop_c(self, *, whatever: int) -> int: ...


        class AuthorizedReading(_Deep):
            async def get_a(self, *, other: int) -> int: ...
        """,
    )
    write(
        layout,
        "authorized.py",
        """
        from {package}.authorized_reading import AuthorizedReading


        class AuthorizedStore(AuthorizedReading):
            async def get_b(self):
                return 1
        """,
    )

    text = authorized_py(methods[:3], layout)

    assert class_of(text) == textwrap.dedent(
        """
        class AuthorizedStore(AuthorizedReading):
            async def get_b(self, *, id: UUID, at: dt.datetime | None) -> "list[Row]":
                return 1
        """
    ).lstrip("\n")


def test_a_class_without_a_body_gets_one(layout: Layout, methods: list[Method]):
    write(layout, "authorized.py", '"""Empty."""\n\n\nclass AuthorizedStore: ...\n')

    text = authorized_py(methods[:1], layout)

    assert class_of(text) == (
        'class AuthorizedStore:\n    async def get_a(self, *, id: UUID) -> Row:\n        raise NotWritten("get_a")\n'
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("class Other: ...\n", "authorized.py: there is no class AuthorizedStore"),
        ("def x(:\n", "authorized.py:1: no Python: invalid syntax"),
        (
            "from elsewhere import Row\n\n\nclass AuthorizedStore: ...\n",
            "authorized.py: Row means something else here; the signatures need `from {package}.interface import Row`",
        ),
        (
            "class AuthorizedStore:\n    def get_a(self): ...\n    def get_a(self): ...\n",
            "authorized.py: get_a: the method is there twice; delete one",
        ),
    ],
)
def test_a_file_that_cannot_be_kept_is_refused(layout: Layout, methods: list[Method], text: str, message: str):
    write(layout, "authorized.py", text)

    with pytest.raises(Refused) as caught:
        authorized_py(methods, layout)

    assert str(caught.value) == message.replace("{package}", layout.package)


def test_an_interface_is_read_with_its_bases_in_sibling_files(layout: Layout):
    write(layout, "more.py", "class More:\n    async def late(self) -> 'Late': ...\n\n\nclass Late: ...\n")
    write(
        layout,
        "interface.py",
        """
        from typing import Literal, Protocol

        from {package}.more import More


        class Queries(More, Protocol):
            async def early(self, kind: Literal["a b", "c"] = "c") -> int: ...
            def _own(self): ...
        """,
    )

    early, late = read_interface(layout, "interface.py", "Queries")

    assert early.definition == "async def early(self, kind: Literal['a b', 'c'] = 'c') -> int:"
    assert [wanted.statement for wanted in early.imports] == ["from typing import Literal"]
    assert [wanted.statement for wanted in late.imports] == [f"from {layout.package}.more import Late"]


def test_a_name_that_an_interface_does_not_import_is_told(layout: Layout):
    write(layout, "interface.py", "class Queries:\n    async def a(self) -> Unknown: ...\n")

    with pytest.raises(Refused, match=r"^interface.py:2: a: Unknown in the signature is not imported$"):
        read_interface(layout, "interface.py", "Queries")
