/** The page's colours for a terminal, which wants them as values. */
import type { ITheme } from "@xterm/xterm"

export function terminalTheme(element: HTMLElement): ITheme {
  const probe = document.createElement("span")
  probe.hidden = true
  element.append(probe)
  const colour = (token: string) => {
    probe.style.color = `var(--${token})`
    return asRgb(getComputedStyle(probe).color)
  }
  const theme: ITheme = {
    background: colour("bg"),
    foreground: colour("text"),
    cursor: colour("text"),
    cursorAccent: colour("bg"),
    selectionBackground: colour("mark"),
    scrollbarSliderBackground: colour("border"),
    scrollbarSliderHoverBackground: colour("border-strong"),
    scrollbarSliderActiveBackground: colour("border-strong"),
    black: colour("text"),
    red: colour("error"),
    green: colour("ok"),
    yellow: colour("warn"),
    blue: colour("code-title"),
    magenta: colour("code-keyword"),
    cyan: colour("accent-text"),
    white: colour("muted"),
    brightBlack: colour("muted"),
    brightRed: colour("error"),
    brightGreen: colour("ok"),
    brightYellow: colour("warn"),
    brightBlue: colour("code-title"),
    brightMagenta: colour("code-keyword"),
    brightCyan: colour("accent-text"),
    brightWhite: colour("text"),
  }
  probe.remove()
  return theme
}

/** xterm reads no oklch: a canvas says what a colour is in sRGB. */
function asRgb(colour: string): string {
  const context = new OffscreenCanvas(1, 1).getContext("2d")
  if (!context) return colour
  context.fillStyle = colour
  context.fillRect(0, 0, 1, 1)
  const [red = 0, green = 0, blue = 0] = context.getImageData(0, 0, 1, 1).data
  return `#${[red, green, blue].map((one) => one.toString(16).padStart(2, "0")).join("")}`
}
