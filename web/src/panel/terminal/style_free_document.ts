/**
 * A document for xterm that makes no elements and no attributes of style: the page's policy forbids both. Rules go into
 * sheets that are adopted, attributes through the CSSOM; a policy is not asked about either.
 */
import type { Terminal } from "@xterm/xterm"

/** Stands where an element of style would; what is written into it is a sheet. */
function standIn(): HTMLElement {
  const element = document.createElementNS("http://www.w3.org/1999/xhtml", "span")
  if (!(element instanceof HTMLElement)) throw new TypeError("A span is an HTML element.")
  const sheet = new CSSStyleSheet()
  document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet]
  element.hidden = true
  let written = ""
  Object.defineProperty(element, "textContent", {
    get: () => written,
    set: (rules: string) => {
      written = rules
      sheet.replaceSync(rules)
    },
  })
  element.remove = () => {
    document.adoptedStyleSheets = document.adoptedStyleSheets.filter((other) => other !== sheet)
    Element.prototype.remove.call(element)
  }
  return element
}

/** Cells of other colours than the theme's are given theirs by `setAttribute`. */
function setAttribute(this: HTMLElement, name: string, value: string): void {
  if (name !== "style") return Element.prototype.setAttribute.call(this, name, value)
  for (const declaration of value.split(";")) {
    const [property = "", ...given] = declaration.split(":")
    if (given.length > 0) this.style.setProperty(property.trim(), given.join(":").trim())
  }
}

function createElement(name: string): HTMLElement {
  if (name === "style") return standIn()
  const element = Document.prototype.createElement.call(document, name)
  element.setAttribute = setAttribute
  return element
}

export const styleFreeDocument: Document = new Proxy(document, {
  get(target, name) {
    if (name === "createElement") return createElement
    const value: unknown = Reflect.get(target, name, target)
    return typeof value === "function" ? value.bind(target) : value
  },
})

/** Two parts of xterm take the page's own document in any case: the scrollbar, while it opens, and what draws rows. */
export function openIn(terminal: Terminal, parent: HTMLElement): void {
  Object.defineProperty(document, "createElement", { value: createElement, configurable: true })
  try {
    terminal.open(parent)
  } finally {
    Reflect.deleteProperty(document, "createElement")
  }
  Reflect.set(rowFactory(terminal), "_document", styleFreeDocument)
}

/** Not part of what xterm promises: another version may have it elsewhere, which must not go unnoticed. */
function rowFactory(terminal: Terminal): object {
  let found: unknown = terminal
  for (const name of ["_core", "_renderService", "_renderer", "value", "_rowFactory"]) {
    found = typeof found === "object" && found !== null ? Reflect.get(found, name) : undefined
  }
  if (typeof found !== "object" || found === null || !("_document" in found)) throw new TypeError("This version of xterm draws its rows elsewhere.")
  return found
}
