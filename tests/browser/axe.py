"""What axe has to say about a page, as it is at this moment."""

from pathlib import Path
from typing import Any

from playwright.async_api import Page

_SOURCE = Path(__file__).parents[2] / "web" / "node_modules" / "axe-core" / "axe.min.js"
_TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]


async def load_axe(page: Page) -> None:
    """By way of the debugger: the page's own policy would refuse it."""
    if not await page.evaluate("'axe' in window"):
        await page.evaluate(_SOURCE.read_text())


async def violations(page: Page, *, only: list[str] | None = None) -> list[str]:
    """Each as one line: the rule, where, and what axe says about it. `only` are rules, instead of all."""
    await load_axe(page)
    found: list[dict[str, Any]] = await page.evaluate(
        """async ([values, type]) => {
            const { violations } = await axe.run(document, { runOnly: { type, values }, resultTypes: ["violations"] })
            const fine = {
                // Headings of answers follow one that may be above the rows that are drawn now.
                "heading-order": "[role=log] *",
                // They stand around what floats, and hand the focus on when they get it.
                "aria-hidden-focus": "[data-base-ui-focus-guard]",
                // What floats belongs to the button that it was opened with; a splitter stands between two regions.
                "region": "[data-base-ui-portal], [data-base-ui-portal] *, [role=separator]",
            }
            const isFine = (id, node) => fine[id] && document.querySelector(node.target[0])?.matches(fine[id])
            return violations.flatMap(({ id, nodes }) => nodes.filter((node) => !isFine(id, node)).map(
                (node) => ({ id, at: node.target.join(" "), html: node.html, why: node.failureSummary })))
        }""",
        [only or _TAGS, "rule" if only else "tag"],
    )
    return [f"{one['id']} at {one['at']}: {one['html'][:160]} ({' '.join(one['why'].split())[:300]})" for one in found]
