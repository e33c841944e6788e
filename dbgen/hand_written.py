"""Reads hand-written Python: the methods of an interface, following base classes into sibling files."""

import ast
import builtins
from collections.abc import Iterator
from dataclasses import dataclass

from dbgen.interface import Argument, Import, Method, Passing
from dbgen.layout import Layout
from dbgen.problems import Problem, Refused

Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True, slots=True)
class Module:
    """A file of the store's folder, parsed."""

    layout: Layout
    file: str
    tree: ast.Module

    @property
    def name(self) -> str:
        return self.layout.module(self.file.removesuffix(".py"))

    def find_class(self, name: str) -> ast.ClassDef | None:
        return next((node for node in self.tree.body if isinstance(node, ast.ClassDef) and node.name == name), None)


def parse_module(layout: Layout, file: str, text: str | None = None) -> Module:
    """Parse `file`, or `text` as that file. Raises Refused when it is no Python."""
    try:
        return Module(layout, file, ast.parse(layout.file(file).read_text("utf-8") if text is None else text))
    except SyntaxError as error:
        raise Refused([Problem(file, error.lineno or 0, message=f"no Python: {error.msg}")]) from None


def read_interface(layout: Layout, file: str, class_name: str) -> list[Method]:
    """The public methods of a class and then of its bases in sibling files. Raises Refused."""
    module = parse_module(layout, file)
    found = module.find_class(class_name)
    if found is None:
        raise Refused([Problem(file, message=f"there is no class {class_name}")])
    methods = {
        function.name: _method_with_imports(function, owner)
        for owner, function in _functions(module, found)
        if not function.name.startswith("_")
    }
    return list(methods.values())


def inherited_names(module: Module, class_name: str) -> set[str]:
    """The methods that a class gets from base classes in sibling files."""
    found = module.find_class(class_name)
    if found is None:
        return set()
    return {
        function.name for base_module, base in _bases(module, found) for _, function in _functions(base_module, base)
    }


def own_methods(module: Module, class_name: str) -> set[str]:
    """The methods that a class defines itself."""
    found = module.find_class(class_name)
    return {node.name for node in found.body if isinstance(node, Function)} if found else set()


def _functions(module: Module, found: ast.ClassDef) -> Iterator[tuple[Module, Function]]:
    for node in found.body:
        if isinstance(node, Function):
            yield module, node
    for base_module, base in _bases(module, found):
        yield from _functions(base_module, base)


def _bases(module: Module, found: ast.ClassDef) -> Iterator[tuple[Module, ast.ClassDef]]:
    """Base classes written in this file or imported from one beside it."""
    imports = bound_names(module)
    for base in found.bases:
        if not isinstance(base, ast.Name):
            continue
        here = module.find_class(base.id)
        wanted = imports.get(base.id)
        if here is not None:
            yield module, here
        elif wanted is not None and wanted.name:
            file = f"{wanted.module.rpartition('.')[2]}.py"
            beside = wanted.module.rpartition(".")[0] == module.layout.package
            if beside and module.layout.file(file).is_file():
                sibling = parse_module(module.layout, file)
                there = sibling.find_class(wanted.name)
                if there is not None:
                    yield sibling, there


def bound_names(module: Module) -> dict[str, Import | None]:
    """Every name known at a module's top: its import, or None when it is defined there."""
    names: dict[str, Import | None] = {}
    pending: list[ast.stmt] = list(module.tree.body)
    while pending:
        node = pending.pop(0)
        if isinstance(node, ast.If):
            pending = [*node.body, *node.orelse, *pending]
        elif isinstance(node, ast.Import | ast.ImportFrom):
            names |= {found.binds: found for found in _imports(node, module.layout.package)}
        elif isinstance(node, ast.ClassDef | Function):
            names[node.name] = None
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            names |= {target.id: None for target in targets if isinstance(target, ast.Name)}
    return names


def _imports(node: ast.Import | ast.ImportFrom, package: str) -> Iterator[Import]:
    for alias in node.names:
        if isinstance(node, ast.Import):
            yield Import(alias.name, alias=alias.asname or "")
        else:
            from_here = ".".join(part for part in (package, node.module) if part)
            yield Import(from_here if node.level else node.module or "", alias.name, alias.asname or "")


def read_method(function: Function) -> Method:
    """A function's signature, without the imports it needs."""
    given = function.args
    arguments: list[Argument] = []
    positional = [*given.posonlyargs, *given.args][1:]
    defaults = [*[None] * (len(positional) - len(given.defaults)), *given.defaults]
    for argument, default in zip(positional, defaults, strict=True):
        arguments.append(_argument(argument, Passing.POSITION, default))
    if given.vararg:
        arguments.append(_argument(given.vararg, Passing.REST, None))
    for argument, default in zip(given.kwonlyargs, given.kw_defaults, strict=True):
        arguments.append(_argument(argument, Passing.KEYWORD, default))
    if given.kwarg:
        arguments.append(_argument(given.kwarg, Passing.REST_BY_KEYWORD, None))
    returns = ast.unparse(function.returns) if function.returns else "None"
    asynchronous = isinstance(function, ast.AsyncFunctionDef)
    return Method(function.name, tuple(arguments), returns, asynchronous=asynchronous)


def _argument(argument: ast.arg, passing: Passing, default: ast.expr | None) -> Argument:
    annotation = ast.unparse(argument.annotation) if argument.annotation else ""
    return Argument(argument.arg, annotation, passing, ast.unparse(default) if default else "")


def _method_with_imports(function: Function, module: Module) -> Method:
    known = bound_names(module)
    imports: set[Import] = set()
    for name, quoted in _names_in_signature(function):
        if name in known:
            imports.add(known[name] or Import(module.name, name))
        elif not quoted and not hasattr(builtins, name):
            message = f"{name} in the signature is not imported"
            raise Refused([Problem(module.file, function.lineno, function.name, message)])
    method = read_method(function)
    return Method(method.name, method.arguments, method.returns, tuple(sorted(imports)), method.asynchronous)


def _names_in_signature(function: Function) -> Iterator[tuple[str, bool]]:
    """Each name, and whether it stands in a string: there it may be an annotation or just text."""
    given = function.args
    every = [*given.posonlyargs, *given.args, *given.kwonlyargs, given.vararg, given.kwarg]
    annotations = [argument.annotation for argument in every if argument is not None]
    for expression in (*annotations, *given.defaults, *given.kw_defaults, function.returns):
        for node in ast.walk(expression) if expression is not None else ():
            if isinstance(node, ast.Name):
                yield node.id, False
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                yield from ((name, True) for name in _names_in_text(node.value))


def _names_in_text(text: str) -> list[str]:
    try:
        tree = ast.parse(text, mode="eval")
    except SyntaxError:
        return []
    return [node.id for node in ast.walk(tree) if isinstance(node, ast.Name)]
