"""`authorized.py`: a method for every query, refusing until its authorization is written."""

from collections.abc import Sequence

from dbgen.interface import Import, Method
from dbgen.layout import Layout
from dbgen.outputs.wrappers import Layer, layer_py


def authorized_py(methods: Sequence[Method], layout: Layout) -> str:
    """The file's text, hand-written bodies kept. Raises Refused."""
    layer = Layer(
        file="authorized.py",
        class_name="AuthorizedStore",
        description="A store that does only what the one who acts may do.",
        partner=("authorizer", "Authorizer", layout.module("authorizer")),
        body=_body,
        body_imports=(Import("chatd.core.errors", "NotWritten"),),
    )
    return layer_py(layer, methods, layout)


def _body(method: Method) -> str:
    return f'raise NotWritten("{method.name}")'
