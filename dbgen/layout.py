"""Where the input and the generated files are."""

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Layout:
    """A store's folder and the Python package it is; `root` has the pyproject.toml with ruff's settings."""

    root: Path
    store: Path
    package: str = "chatd.store"
    meter_module: str = "chatd.observe.metrics"

    @property
    def sql(self) -> Path:
        return self.store / "sql"

    def file(self, name: str) -> Path:
        return self.store / name

    def module(self, name: str) -> str:
        return f"{self.package}.{name}"


def own_layout() -> Layout:
    """The layout of the checkout that this package stands in."""
    root = Path(__file__).resolve().parent.parent
    return Layout(root=root, store=root / "src" / "chatd" / "store")
