"""A StrEnum as text; two names that would become one member are refused."""

from collections.abc import Sequence

from dbgen.naming import member
from dbgen.problems import Problem, Refused


def enum_class(name: str, what: str, values: Sequence[str], description: str = "") -> str:
    """The class, not yet formatted. Raises Refused; `what` says there what the values are."""
    members: dict[str, str] = {}
    for value in values:
        earlier = members.setdefault(member(value), value)
        if earlier != value:
            message = f"the {what} {earlier} and {value} would have one name in {name}; rename one"
            raise Refused([Problem("migrations", message=message)])
    doc = f'    """{description}"""\n\n' if description else ""
    lines = "\n".join(f"    {upper} = {text!r}" for upper, text in members.items())
    return f"\nclass {name}(StrEnum):\n{doc}{lines}\n"
