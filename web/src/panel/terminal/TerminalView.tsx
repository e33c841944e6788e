import "@xterm/xterm/css/xterm.css"
import { FitAddon } from "@xterm/addon-fit"
import { Terminal } from "@xterm/xterm"
import { useEffect, useRef, useState } from "react"
import { terminalText, theme, useKept } from "../../browser/kept"
import { Button } from "../../ui/buttons/Button"
import { Banner } from "../../ui/status/Banner"
import { words } from "../../words"
import { openIn, styleFreeDocument } from "./style_free_document"
import css from "./Terminal.module.css"
import { type Line, TerminalSocket } from "./terminal_socket"
import { terminalTheme } from "./terminal_theme"

export interface TerminalViewProps {
  workspaceId: string
  terminalKey: string
  name: string
  /** The program has ended, and someone wants another. */
  onAgain: () => void
}

const scrollback = 5000

export function TerminalView({ workspaceId, terminalKey, name, onAgain }: TerminalViewProps) {
  const box = useRef<HTMLDivElement>(null)
  const parts = useRef<{ terminal: Terminal; socket: TerminalSocket } | null>(null)
  const [line, setLine] = useState<Line>("connecting")
  const [chosenTheme] = useKept(theme)
  const [isText] = useKept(terminalText)

  useEffect(() => {
    const element = box.current
    if (!element) return
    const terminal = makeTerminal(element, words.panel.terminal.label(name))
    const fit = new FitAddon()
    terminal.loadAddon(fit)
    openIn(terminal, element)
    terminal.textarea?.setAttribute("aria-label", words.panel.terminal.label(name))
    fit.fit()
    const size = () => ({ columns: terminal.cols, rows: terminal.rows })
    const socket = new TerminalSocket(workspaceId, terminalKey, {
      size,
      shown: (bytes) => terminal.write(bytes),
      opened: () => terminal.reset(),
      line: setLine,
    })
    terminal.onData((text) => socket.type(new TextEncoder().encode(text)))
    terminal.onBinary((text) => socket.type(Uint8Array.from(text, (letter) => letter.charCodeAt(0))))
    terminal.onResize(({ cols, rows }) => socket.resize({ columns: cols, rows }))
    const watched = new ResizeObserver(() => element.clientWidth > 0 && fit.fit())
    watched.observe(element)
    terminal.focus()
    parts.current = { terminal, socket }
    return () => {
      watched.disconnect()
      socket.close()
      terminal.dispose()
      parts.current = null
    }
  }, [workspaceId, terminalKey, name])

  useEffect(() => {
    const colour = () => {
      if (parts.current && box.current) parts.current.terminal.options.theme = terminalTheme(box.current)
    }
    const dark = window.matchMedia("(prefers-color-scheme: dark)")
    colour()
    dark.addEventListener("change", colour)
    return () => dark.removeEventListener("change", colour)
  }, [chosenTheme])

  useEffect(() => {
    if (parts.current) parts.current.terminal.options.screenReaderMode = isText
  }, [isText, workspaceId, terminalKey, name])

  const text = words.panel.terminal
  return (
    <div className={css["terminal"]}>
      {line === "lost" && (
        <Banner
          kind="warn"
          title={text.lost}
          actions={
            <Button size="small" onClick={() => parts.current?.socket.hurry()}>
              {text.retry}
            </Button>
          }
        />
      )}
      {line === "ended" && (
        <Banner
          title={text.ended}
          actions={
            <Button size="small" onClick={onAgain}>
              {text.again}
            </Button>
          }
        />
      )}
      <div ref={box} className={css["screen"]} data-takes-keys />
    </div>
  )
}

/** Windows keeps the first for itself. The second is a place on the keyboard: what it writes differs. */
function isWayOut({ ctrlKey, shiftKey, altKey, metaKey, key, code }: KeyboardEvent): boolean {
  if (!ctrlKey || altKey || metaKey) return false
  return shiftKey ? key === "Escape" : code === "Backquote"
}

function makeTerminal(element: HTMLElement, label: string): Terminal {
  const style = getComputedStyle(element)
  const terminal = new Terminal({
    documentOverride: styleFreeDocument,
    fontFamily: style.fontFamily,
    fontSize: Number.parseFloat(style.fontSize),
    scrollback,
    theme: terminalTheme(element),
    minimumContrastRatio: 4.5,
  })
  // Tab is the shell's: there must be a way out for those without a pointer.
  terminal.attachCustomKeyEventHandler((event) => {
    if (event.type !== "keydown" || !isWayOut(event)) return true
    event.preventDefault()
    terminal.blur()
    element.closest<HTMLElement>("[role=tabpanel]")?.focus()
    return false
  })
  element.setAttribute("aria-label", label)
  return terminal
}
