"""`metered.py`: every query timed and counted under its name."""

from collections.abc import Sequence

from dbgen.interface import Method
from dbgen.layout import Layout
from dbgen.outputs.wrappers import Layer, layer_py


def metered_py(methods: Sequence[Method], layout: Layout) -> str:
    """The file's text, bodies that were changed by hand kept. Raises Refused."""
    layer = Layer(
        file="metered.py",
        class_name="MeteredStore",
        description="A store that measures every query.",
        partner=("meter", "QueryMeter", layout.meter_module),
        body=_body,
    )
    return layer_py(layer, methods, layout)


def _body(method: Method) -> str:
    # Without `async` the work happens later, out of sight, so there is nothing to measure here.
    if not method.asynchronous:
        return f"return {method.call('self._inner')}"
    call = method.call("self._inner")
    returned = call if method.returns == "None" else f"return {call}"
    return f'with self._meter.query("{method.name}"):\n    {returned}'
