/**
 * A terminal's connection: bytes both ways, its size as text. It comes back under the same key, which is the same terminal, until
 * the program in it ends.
 */
import { backoffMs } from "../../api/backoff"
import { address } from "../../api/request"

export type Line = "connecting" | "open" | "lost" | "ended"

export interface Size {
  columns: number
  rows: number
}

export interface TerminalHooks {
  /** Asked for before every try. */
  size(): Size
  shown(bytes: Uint8Array): void
  /** It is open, for the first time or again: the server sends what was on the screen. */
  opened(): void
  line(now: Line): void
}

const ended = 1000

export class TerminalSocket {
  private socket: WebSocket | null = null
  private attempt = 0
  private timer: ReturnType<typeof setTimeout> | undefined
  private isClosed = false
  private readonly workspaceId: string
  private readonly key: string
  private readonly hooks: TerminalHooks

  constructor(workspaceId: string, key: string, hooks: TerminalHooks) {
    this.workspaceId = workspaceId
    this.key = key
    this.hooks = hooks
    this.connect()
  }

  type(data: Uint8Array<ArrayBuffer>): void {
    if (this.socket?.readyState === WebSocket.OPEN) this.socket.send(data)
  }

  resize({ columns, rows }: Size): void {
    if (this.socket?.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify({ type: "resize", columns, rows }))
  }

  /** Tries now instead of later. */
  hurry(): void {
    if (this.socket !== null || this.isClosed) return
    clearTimeout(this.timer)
    this.connect()
  }

  close(): void {
    this.isClosed = true
    clearTimeout(this.timer)
    this.socket?.close()
  }

  private connect(): void {
    this.hooks.line(this.attempt === 0 ? "connecting" : "lost")
    const socket = new WebSocket(this.address())
    socket.binaryType = "arraybuffer"
    this.socket = socket
    socket.addEventListener("open", () => {
      if (this.isClosed) return socket.close()
      this.attempt = 0
      this.hooks.opened()
      this.hooks.line("open")
    })
    socket.addEventListener("message", ({ data }) => {
      if (!this.isClosed && data instanceof ArrayBuffer) this.hooks.shown(new Uint8Array(data))
    })
    socket.addEventListener("close", ({ code }) => this.over(code))
  }

  private over(code: number): void {
    this.socket = null
    if (this.isClosed) return
    if (code === ended) return this.hooks.line("ended")
    this.attempt += 1
    this.hooks.line("lost")
    this.timer = setTimeout(() => this.connect(), backoffMs(this.attempt, Math.random))
  }

  private address(): URL {
    const { columns, rows } = this.hooks.size()
    const path = address("/api/experimental/workspaces/{workspace}/terminal", { workspace: this.workspaceId }, { reconnect: this.key, width: columns, height: rows })
    const url = new URL(path, location.href)
    url.protocol = url.protocol === "https:" ? "wss:" : "ws:"
    return url
  }
}
