"""A walk with the Tab key through all that a page offers: everything is reached, named, seen, and left again.

What has arrows inside (a menu, a tree, a list of options) is one stop: there the walk goes on with the arrows. The
members of radio groups and lists of tabs are taken for reached with the group, since arrows would choose them.
"""

from typing import Any

from playwright.async_api import Page

from browser.axe import load_axe

_MOST_STOPS = 400
_MOST_ARROWS = 60
_OUTSIDE = -1  # of the page: the browser's own controls

_PREPARE = """() => {
    const roles = (...names) => names.map((name) => `[role=${name}]`).join(",")
    const composites = roles("menu", "menubar", "listbox", "tree", "grid", "radiogroup", "tablist", "toolbar")
    const plain = "a[href],button,input,select,textarea,summary"
    const pressed = `${plain},${roles("button", "link", "checkbox", "radio", "switch", "tab", "menuitem",
        "menuitemradio", "menuitemcheckbox", "option", "treeitem", "slider", "combobox", "separator")}`
    const signature = (element) => ["", "::before", "::after"].map((pseudo) => {
        const style = getComputedStyle(element, pseudo || undefined)
        return [style.outlineStyle, style.outlineWidth, style.outlineColor, style.boxShadow, style.borderColor,
            style.backgroundColor, style.stroke, style.strokeWidth, style.fill].join(";")
    }).join("|")
    const around = (element) => {
        const near = [element]
        for (let up = element.parentElement; up && near.length < 4; up = up.parentElement) near.push(up)
        return [...near, ...[...element.querySelectorAll("*")].slice(0, 8)]
    }
    const isThere = (element) => {
        if (element.matches(":disabled,[aria-disabled=true],[type=hidden],[data-base-ui-focus-guard]")) return false
        if (element.closest("[inert],[aria-hidden=true]")) return false
        const { width, height } = element.getBoundingClientRect()
        return width > 0 && height > 0 && element.checkVisibility({ visibilityProperty: true })
    }
    const html = (element) => element.outerHTML.slice(0, 200)
    const active = document.activeElement === document.body ? null : document.activeElement
    active?.blur()
    const before = new WeakMap()
    for (const element of document.body.querySelectorAll("*")) before.set(element, signature(element))
    // Where a dialog or a menu speaks to one, the page behind it waits.
    const floating = [...document.querySelectorAll(roles("dialog", "alertdialog", "menu", "listbox"))]
        .findLast((element) => isThere(element) && element.matches("[data-open],[data-open] *,[aria-modal=true]"))
    const within = floating?.closest(roles("dialog", "alertdialog")) ?? floating ?? document.body
    // A splitter that can't be moved is a line.
    const all = [...within.querySelectorAll(pressed)].filter((element) => isThere(element)
        && !(element.getAttribute("role") === "separator" && !element.hasAttribute("tabindex")))
    axe.setup(document)
    const nameless = all.filter((element) => axe.commons.text.accessibleText(element).trim() === "").map(html)
    axe.teardown()
    active?.focus({ preventScroll: true })
    window.walk = { all, around, before, composites, html, isThere, nameless, signature,
        reached: new Set(), looked: new Set(), ringless: [], stops: new Map() }
}"""

# Where the focus is now: noted as reached, and looked at if the keyboard brought it there.
_NOTE = """(byKeyboard) => {
    const { around, before, composites, html, isThere, looked, reached, ringless, signature, stops } = window.walk
    const element = document.activeElement
    if (!element || element === document.body) return { kind: "none" }
    reached.add(element)
    const pointed = element.getAttribute("aria-activedescendant")
    if (pointed) reached.add(document.getElementById(pointed))
    const composite = element.closest(composites)
    const role = composite?.getAttribute("role") ?? ""
    // Groups whose arrows choose: with one of them, all are reached.
    if (role === "radiogroup" || role === "tablist") composite.querySelectorAll("*").forEach((one) => reached.add(one))
    if (element.matches("[type=radio]")) document.getElementsByName(element.name).forEach((one) => reached.add(one))
    // Steppers do what the arrows of their field do.
    if (element.id) document.querySelectorAll(`[aria-controls="${element.id}"]`).forEach((one) => reached.add(one))
    // A hidden input and what is drawn for it are one.
    const twins = "input,[role=checkbox],[role=switch],[role=radio]"
    for (const near of [element.previousElementSibling, element.nextElementSibling]) {
        if (near?.matches(twins) && element.matches(twins)) reached.add(near)
    }
    const takesKeys = element.closest("[data-takes-keys]") !== null
    const isMark = element.matches("[data-base-ui-focus-guard]")
    if (byKeyboard && !looked.has(element) && !takesKeys && !isMark && isThere(element)) {
        looked.add(element)
        const isSeen = element.matches("[data-highlighted]") || around(element).some((near) => {
            const was = before.get(near)
            if (was !== undefined) return was !== signature(near)
            const style = getComputedStyle(near)
            return style.outlineStyle !== "none" && Number.parseFloat(style.outlineWidth) > 0
        })
        if (!isSeen) ringless.push(html(element))
    }
    if (!stops.has(element)) stops.set(element, stops.size)
    // In a group, what Tab does not stop at is walked with the arrows from where it does.
    const others = element.closest("[role=group]")?.querySelector("button[tabindex='-1']")
    const isOneOfMany = others && element.matches("button")
    const hasArrows = isOneOfMany || ["menu", "listbox", "tree", "grid", "menubar", "toolbar"].includes(role)
    const isCombobox = element.getAttribute("role") === "combobox" && element.getAttribute("aria-expanded") === "true"
    const label = element.getAttribute("aria-label") ?? ""
    return { kind: "stop", number: stops.get(element), hasArrows: hasArrows || isCombobox, role, takesKeys, label,
        pointed }
}"""

_LEFT = """() => {
    const { all, html, isThere, reached } = window.walk
    // What scrolled out of a long list is gone.
    return all.filter((element) => element.isConnected && isThere(element) && !reached.has(element)).map(html)
}"""


async def faults_of_walk(page: Page) -> list[str]:
    """What is not reached, has no name, shows no focus, or does not let go. Nothing is pressed but Tab and arrows."""
    await load_axe(page)
    await page.evaluate(_PREPARE)
    faults = await _walk(page)
    state: dict[str, list[str]] = await page.evaluate(
        "({ nameless: window.walk.nameless, ringless: window.walk.ringless })"
    )
    unreached: list[str] = await page.evaluate(_LEFT)
    return [
        *faults,
        *(f"no name: {html}" for html in state["nameless"]),
        *(f"no ring: {html}" for html in state["ringless"]),
        *(f"not reached: {html}" for html in unreached),
    ]


async def _walk(page: Page) -> list[str]:
    # A menu closes at Tab: what is open at the beginning is walked first, with its arrows.
    first: dict[str, Any] = await page.evaluate(_NOTE, False)
    await _arrows(page, first)
    if first.get("role") in ("menu", "menubar", "listbox"):
        return []
    seen: list[int] = []
    for _ in range(_MOST_STOPS):
        await page.keyboard.press("Tab")
        at: dict[str, Any] = await page.evaluate(_NOTE, True)
        if at["kind"] == "none":
            at["number"] = _OUTSIDE
        elif at["takesKeys"] and at["number"] not in seen:
            seen.append(at["number"])
            if fault := await _left(page, at):
                return [fault]
            continue
        if seen.count(at["number"]) > 1:
            return []  # it came round
        if seen and seen[-1] == at["number"] != _OUTSIDE and await page.evaluate("window.walk.all.length > 1"):
            return [f"Tab stays: {await page.evaluate('window.walk.html(document.activeElement)')}"]
        seen.append(at["number"])
        await _arrows(page, at)
    return [f"no end after {_MOST_STOPS} stops"]


async def _left(page: Page, at: dict[str, Any]) -> str | None:
    """What takes all keys says how one leaves it, backwards; the walk goes on at the beginning of the page."""
    await page.keyboard.press("Control+Shift+Escape")
    if "Ctrl+Shift+Escape" not in at["label"]:
        return f"the way out is not told: {at['label']}"
    if (await page.evaluate(_NOTE, True)).get("takesKeys"):
        return f"no way out: {at['label']}"
    await page.locator("a[href], button").first.focus()
    await page.evaluate(_NOTE, True)
    return None


async def _arrows(page: Page, at: dict[str, Any]) -> None:
    """Both ways, until nothing moves any more or it comes round."""
    if not at.get("hasArrows"):
        return
    for key in ("ArrowUp", "ArrowDown"):
        been: set[str] = set()
        for _ in range(_MOST_ARROWS):
            await page.keyboard.press(key)
            now: dict[str, Any] = await page.evaluate(_NOTE, True)
            here = f"{now.get('number')} {now.get('pointed')}"
            if here in been:
                break
            been.add(here)
