"""What the three layers share: a first version of the file, and the class kept in step with the interface."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from dbgen.hand_written import inherited_names, own_methods, parse_module
from dbgen.interface import Import, Method
from dbgen.kept_class import Plan, rewrite_class
from dbgen.layout import Layout
from dbgen.needed_imports import with_imports
from dbgen.ruff import formatted


@dataclass(frozen=True, slots=True)
class Layer:
    """A wrapper class around a Store. `partner` is what it does its work with: (attribute, class, module)."""

    file: str
    class_name: str
    description: str
    partner: tuple[str, str, str]
    body: Callable[[Method], str]
    body_imports: tuple[Import, ...] = ()
    header: str = ""
    all_generated: bool = False


def layer_py(layer: Layer, methods: Sequence[Method], layout: Layout) -> str:
    """The file's text, made from what is there now. Raises Refused."""
    path = layout.file(layer.file)
    text = path.read_text("utf-8") if path.is_file() else _first_version(layer, layout)
    module = parse_module(layout, layer.file, text)
    plan = Plan(
        file=layer.file,
        class_name=layer.class_name,
        methods=methods,
        body=layer.body,
        elsewhere=inherited_names(module, layer.class_name) - own_methods(module, layer.class_name),
        by_hand=_methods_of_every_store(layout),
        all_generated=layer.all_generated,
    )
    rewritten = rewrite_class(text, plan, layout)
    needed = [wanted for method in methods if method.name not in plan.elsewhere for wanted in method.imports]
    return with_imports(rewritten, [*needed, *layer.body_imports], layout, layer.file)


def _methods_of_every_store(layout: Layout) -> set[str]:
    """What `Store` asks for beside the queries; each layer writes it by hand."""
    if not layout.file("store.py").is_file():
        return {"transaction", "ping"}
    return {"transaction", "ping"} | own_methods(parse_module(layout, "store.py"), "Store")


def _first_version(layer: Layer, layout: Layout) -> str:
    attribute, kind, module = layer.partner
    text = f'''"""{layer.header or layer.description}"""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Self

from {layout.module("store")} import Store
from {module} import {kind}


class {layer.class_name}:
    """{layer.description}"""

    def __init__(self, inner: Store, {attribute}: {kind}) -> None:
        self._inner = inner
        self._{attribute} = {attribute}

    @asynccontextmanager
    async def transaction(self) -> AsyncGenerator[Self]:
        async with self._inner.transaction() as tx:
            yield type(self)(tx, self._{attribute})

    async def ping(self) -> None:
        await self._inner.ping()
'''
    return formatted(text, layout, layer.file)
