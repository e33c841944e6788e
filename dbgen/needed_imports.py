"""Adds the imports that signatures need, and says so when a name already means something else."""

import ast
from collections.abc import Iterable

from dbgen.hand_written import bound_names, parse_module
from dbgen.interface import Import
from dbgen.layout import Layout
from dbgen.problems import Problem, Refused
from dbgen.ruff import sorted_imports


def with_imports(text: str, needed: Iterable[Import], layout: Layout, file: str) -> str:
    """The text with the missing imports, sorted, and without those that nothing uses. Raises Refused."""
    module = parse_module(layout, file, text)
    tree, known = module.tree, bound_names(module)
    used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    missing: list[str] = []
    problems: list[Problem] = []
    for wanted in sorted(set(needed)):
        if wanted.binds not in known:
            missing.append(wanted.statement)
        elif known[wanted.binds] != wanted and wanted.binds in used:
            message = f"{wanted.binds} means something else here; the signatures need `{wanted.statement}`"
            problems.append(Problem(file, message=message))
    if problems:
        raise Refused(problems)
    if missing:
        lines = text.splitlines(keepends=True)
        after = _end_of_imports(tree)
        lines[after:after] = [f"{statement}\n" for statement in missing]
        text = "".join(lines)
    return sorted_imports(text, layout, file)


def _end_of_imports(tree: ast.Module) -> int:
    """The line after which an import may be added: the last import's, else the docstring's."""
    end = 0
    for at, node in enumerate(tree.body):
        is_docstring = at == 0 and isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        if is_docstring or isinstance(node, ast.Import | ast.ImportFrom):
            end = node.end_lineno or end
        else:
            break
    return end
