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
const noCode = 1006
/** The server says something at least every 25 seconds: the connection is dead without knowing when it does not. */
const silentMs = 40_000

export class TerminalSocket {
  private socket: WebSocket | null = null
  private attempt = 0
  private timer: ReturnType<typeof setTimeout> | undefined
  private silence: ReturnType<typeof setTimeout> | undefined
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
    clearTimeout(this.silence)
    this.socket?.close()
  }

  private connect(): void {
    this.hooks.line(this.attempt === 0 ? "connecting" : "lost")
    const socket = new WebSocket(this.address())
    socket.binaryType = "arraybuffer"
    this.socket = socket
    this.heard(socket)
    socket.addEventListener("open", () => {
      if (this.isClosed) return socket.close()
      this.heard(socket)
      this.attempt = 0
      this.hooks.opened()
      this.hooks.line("open")
    })
    socket.addEventListener("message", ({ data }) => {
      if (this.isClosed || this.socket !== socket) return
      this.heard(socket)
      if (data instanceof ArrayBuffer && data.byteLength > 0) this.hooks.shown(new Uint8Array(data))
    })
    socket.addEventListener("close", ({ code }) => {
      if (this.socket === socket) this.over(code)
    })
  }

  private heard(socket: WebSocket): void {
    clearTimeout(this.silence)
    this.silence = setTimeout(() => {
      socket.close()
      this.over(noCode)
    }, silentMs)
  }

  private over(code: number): void {
    this.socket = null
    clearTimeout(this.silence)
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
