"""Rewrites a class so that its methods are an interface's, in its order, and keeps what was written by hand.

Methods that are not the interface's (`__init__`, `transaction`, private ones) and other statements stay in
front, in their own order. A method keeps its body, decorators and comments; only a changed signature is
replaced. A body that is exactly what was generated for the old signature is generated again for the new one.
"""

import ast
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

import libcst as cst

from dbgen.hand_written import read_method
from dbgen.interface import Method
from dbgen.layout import Layout
from dbgen.problems import Problem, Refused
from dbgen.ruff import formatted

GENERATED_PRIVATE = "_decrypt_"  # how private methods start that are generated too
_INDENT = "    "


@dataclass(frozen=True, slots=True)
class Plan:
    """What a class should become. `body` writes a method's lines; `elsewhere` are methods that bases define.

    With `all_generated` every body is replaced, and a method whose query is gone just goes.
    """

    file: str
    class_name: str
    methods: Sequence[Method]
    body: Callable[[Method], str]
    elsewhere: Collection[str] = ()
    by_hand: Collection[str] = ()
    all_generated: bool = False

    def code(self, method: Method) -> str:
        lines = "\n".join(f"{_INDENT * 2}{line}".rstrip() for line in self.body(method).splitlines())
        return f"{_INDENT}{method.definition}\n{lines}\n"


def rewrite_class(text: str, plan: Plan, layout: Layout) -> str:
    """The file's new text. Raises Refused, naming methods written by hand whose query is gone."""
    module = cst.parse_module(text)
    at, found = _find(module, plan)
    wanted = {method.name: method for method in plan.methods if method.name not in plan.elsewhere}
    fresh = _generated(plan, list(wanted.values()), layout)
    kept = _sort_out(module, found, plan, wanted)
    body = list(kept.front)
    for name in wanted:
        old = kept.methods.get(name)
        body.append(fresh[name] if old is None else _updated(module, old, fresh[name], plan))
    body = [
        _spaced(statement, first=index == 0) if isinstance(statement, cst.FunctionDef) else statement
        for index, statement in enumerate(body)
    ]
    block = found.body if isinstance(found.body, cst.IndentedBlock) else cst.IndentedBlock([])
    rewritten = found.with_changes(body=block.with_changes(body=body or [cst.parse_statement("pass")]))
    statements = [*module.body[:at], rewritten, *module.body[at + 1 :]]
    return module.with_changes(body=statements).code


@dataclass(frozen=True, slots=True)
class _Kept:
    front: list[cst.BaseStatement]
    methods: dict[str, cst.FunctionDef]


def _find(module: cst.Module, plan: Plan) -> tuple[int, cst.ClassDef]:
    for at, statement in enumerate(module.body):
        if isinstance(statement, cst.ClassDef) and statement.name.value == plan.class_name:
            return at, statement
    raise Refused([Problem(plan.file, message=f"there is no class {plan.class_name}")])


def _generated(plan: Plan, methods: Sequence[Method], layout: Layout) -> dict[str, cst.FunctionDef]:
    """The methods as they are written anew, formatted as they will stand in the class."""
    if not methods:
        return {}
    text = f"class {plan.class_name}:\n" + "\n".join(plan.code(method) for method in methods)
    _, found = _find(cst.parse_module(formatted(text, layout, plan.file)), plan)
    return {node.name.value: node for node in found.body.body if isinstance(node, cst.FunctionDef)}


def _sort_out(module: cst.Module, found: cst.ClassDef, plan: Plan, wanted: Collection[str]) -> _Kept:
    kept = _Kept([], {})
    problems: list[Problem] = []
    statements = found.body.body if isinstance(found.body, cst.IndentedBlock) else ()
    for statement in statements:
        if not isinstance(statement, cst.FunctionDef):
            if not _is_empty(statement):
                kept.front.append(statement)
            continue
        name = statement.name.value
        if name in kept.methods:
            problems.append(Problem(plan.file, query=name, message="the method is there twice; delete one"))
        elif name in wanted:
            kept.methods[name] = statement
        elif not _is_left_over(statement, plan, after_first=bool(kept.methods)):
            kept.front.append(statement)
        elif not plan.all_generated and (_has_comment(statement) or not _is_unedited(module, statement, plan)):
            message = "its query is gone; delete the method by hand"
            problems.append(Problem(plan.file, query=name, message=message))
    if problems:
        raise Refused(problems)
    return kept


def _is_empty(statement: cst.BaseStatement) -> bool:
    return isinstance(statement, cst.SimpleStatementLine) and all(
        isinstance(part, cst.Pass) or (isinstance(part, cst.Expr) and isinstance(part.value, cst.Ellipsis))
        for part in statement.body
    )


def _is_left_over(function: cst.FunctionDef, plan: Plan, *, after_first: bool) -> bool:
    """Whether a method that the interface does not have once belonged to it, rather than to this class alone.

    A class's own public methods stand before the interface's; only a wrapper calls its own name on another.
    """
    name = function.name.value
    if name in plan.by_hand:
        return False
    if name.startswith("_"):
        return plan.all_generated and name.startswith(GENERATED_PRIVATE)
    return after_first or _is_stub_or_wrapper(function)


def _is_stub_or_wrapper(function: cst.FunctionDef) -> bool:
    code = ast.parse(cst.Module([function.with_changes(leading_lines=())]).code)
    name = function.name.value
    for node in ast.walk(code):
        if isinstance(node, ast.Attribute) and node.attr == name:
            return True
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "NotWritten":
            return True
    return False


def _updated(module: cst.Module, old: cst.FunctionDef, new: cst.FunctionDef, plan: Plan) -> cst.FunctionDef:
    if plan.all_generated:
        return new
    if _signature(module, old) == _signature(module, new):
        return old
    changed = old.with_changes(
        params=new.params,
        returns=new.returns,
        asynchronous=new.asynchronous,
        whitespace_after_name=new.whitespace_after_name,
        whitespace_before_params=new.whitespace_before_params,
        whitespace_before_colon=new.whitespace_before_colon,
    )
    return changed.with_changes(body=new.body) if _is_unedited(module, old, plan) else changed


def _parsed(module: cst.Module, function: cst.FunctionDef) -> ast.FunctionDef | ast.AsyncFunctionDef:
    node = ast.parse(module.code_for_node(function.with_changes(leading_lines=()))).body[0]
    assert isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    return node


def _signature(module: cst.Module, function: cst.FunctionDef) -> str:
    node = _parsed(module, function)
    returns = ast.dump(node.returns) if node.returns else ""
    return f"{type(node).__name__} {ast.dump(node.args)} {returns}"


def _is_unedited(module: cst.Module, function: cst.FunctionDef, plan: Plan) -> bool:
    """Whether a body is what would be generated for the present signature, with no comment added."""
    node = _parsed(module, function)
    again = ast.parse(f"class _:\n{plan.code(read_method(node))}").body[0]
    assert isinstance(again, ast.ClassDef)
    expected = again.body[0]
    assert isinstance(expected, ast.FunctionDef | ast.AsyncFunctionDef)
    if _has_comment(function.body) or node.decorator_list:
        return False
    return [ast.dump(part) for part in node.body] == [ast.dump(part) for part in expected.body]


class _Comments(cst.CSTVisitor):
    def __init__(self) -> None:
        self.found = False

    def visit_Comment(self, node: cst.Comment) -> None:  # noqa: N802  (libcst calls it by this name)
        self.found = True


def _has_comment(node: cst.CSTNode) -> bool:
    comments = _Comments()
    node.visit(comments)
    return comments.found


def _spaced(function: cst.FunctionDef, *, first: bool) -> cst.FunctionDef:
    """One empty line before a method at least, and none at the very start of the class."""
    lines = list(function.leading_lines)
    if first:
        while lines and lines[0].comment is None:
            del lines[0]
    elif not lines or lines[0].comment is not None:
        lines.insert(0, cst.EmptyLine(indent=False))
    return function.with_changes(leading_lines=lines)
