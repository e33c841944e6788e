/** What connections need of a browser: given, so that tests can stand in for time, chance and the network. */
import { onSignedIn } from "./session"

/** What is heard of a WebSocket. `closed` comes once and last: an error is always followed by it. */
export interface SocketListener {
  opened(): void
  message(data: unknown): void
  closed(reason: string): void
}

export type Moment = "online" | "offline" | "shown" | "signed-in"

export interface Surroundings {
  /** Opens a WebSocket. Gives what closes it; nothing is heard of it afterwards. */
  socket(url: string, listener: SocketListener): () => void
  fetch(url: string, init: RequestInit): Promise<Response>
  /** Gives what takes it back. */
  after(ms: number, run: () => void): () => void
  random(): number
  now(): number
  /** Gives what ends it. */
  on(moment: Moment, run: () => void): () => void
}

export const browser: Surroundings = {
  socket: openSocket,
  fetch: (url, init) => fetch(url, init),
  after: (ms, run) => {
    const timer = setTimeout(run, ms)
    return () => clearTimeout(timer)
  },
  random: Math.random,
  now: Date.now,
  on: (moment, run) => {
    if (moment === "signed-in") return onSignedIn(run)
    if (moment === "online" || moment === "offline") return listened(window, moment, run)
    return listened(document, "visibilitychange", () => {
      if (document.visibilityState === "visible") run()
    })
  },
}

function openSocket(url: string, listener: SocketListener): () => void {
  const socket = new WebSocket(socketAddress(url))
  const quiet = new AbortController()
  const { signal } = quiet
  socket.addEventListener("open", () => listener.opened(), { signal })
  socket.addEventListener("message", ({ data }) => listener.message(data), { signal })
  socket.addEventListener("close", ({ reason }) => listener.closed(reason), { signal })
  return () => {
    quiet.abort()
    socket.close()
  }
}

function socketAddress(url: string): URL {
  const address = new URL(url, location.href)
  address.protocol = address.protocol === "https:" ? "wss:" : "ws:"
  return address
}

function listened(target: EventTarget, name: string, run: () => void): () => void {
  target.addEventListener(name, run)
  return () => target.removeEventListener(name, run)
}
