/**
 * A connection that comes back: after 1 s, twice as long each time, up to half a minute; at once when the network or the
 * reader is back. It ends by itself only when there is nothing to come back to; signed out, it rests until someone has
 * signed in.
 */
import { backoffMs } from "./backoff"
import type { Surroundings } from "./surroundings"
import { byEvents, bySocket, type End, probe } from "./transports"

export type Connection =
  /** `attempt` counts the tries since the connection was lost; 0 is the first one of all. */
  | { readonly state: "connecting"; readonly attempt: number }
  | { readonly state: "open" }
  /** `until` is a time as `Date.now` gives it. */
  | { readonly state: "waiting"; readonly attempt: number; readonly until: number }
  | { readonly state: "ended"; readonly why: EndedBy }

/** `gone`: it is not there, or not ours to see. */
export type EndedBy = "signed-out" | "gone"

export interface Wanted {
  /** Asked for before every try. */
  address(): string
  /** What came together. */
  came(values: readonly unknown[]): void
  connection(now: Connection): void
  /** The server does not know the place to go on from. What `address` gives after this is tried at once. */
  placeRefused(): void
}

/** The server says something at least every 25 seconds. A page that has slept has no timer that tells it that time has
 * passed: who looks at it again does not have to wait until the silence is noticed. */
const staleMs = 30_000
const socketTries = 2

export class Lasting {
  private readonly wanted: Wanted
  private readonly around: Surroundings
  private readonly forget: (() => void)[]
  private cut: () => void = () => {}
  private state: Connection = { state: "connecting", attempt: 0 }
  private attempt = 0
  private socketFailures = 0
  private hasHadSocket = false
  private isPlaceRefused = false
  private heardAt = 0
  private isClosed = false

  constructor(wanted: Wanted, around: Surroundings) {
    this.wanted = wanted
    this.around = around
    this.forget = [
      around.on("online", () => this.hurry()),
      around.on("offline", () => this.lose()),
      around.on("shown", () => this.shown()),
      around.on("signed-in", () => this.signedIn()),
    ]
    this.connect()
  }

  close(): void {
    this.isClosed = true
    this.cut()
    for (const forget of this.forget) forget()
  }

  /** Tries now instead of later. */
  hurry(): void {
    if (!this.isClosed && this.state.state === "waiting") this.connect()
  }

  private connect(): void {
    this.cut()
    this.tell({ state: "connecting", attempt: this.attempt })
    if (this.isClosed) return
    const isSocket = this.hasHadSocket || this.socketFailures < socketTries
    const address = this.wanted.address()
    this.cut = (isSocket ? bySocket : byEvents)(
      address,
      {
        opened: () => this.opened(isSocket),
        came: (texts) => this.read(texts),
        over: (end) => (isSocket && end.how === "unopened" ? this.ask(address) : this.over(end)),
      },
      this.around,
    )
  }

  private opened(isSocket: boolean): void {
    this.hasHadSocket ||= isSocket
    this.attempt = 0
    this.isPlaceRefused = false
    this.heardAt = this.around.now()
    this.tell({ state: "open" })
  }

  private read(texts: readonly string[]): void {
    this.heardAt = this.around.now()
    let values: unknown[]
    try {
      values = texts.map((text): unknown => JSON.parse(text))
    } catch {
      this.over({ how: "broken", reason: "" })
      return
    }
    this.wanted.came(values)
  }

  /** A socket did not open: plain HTTP tells why. */
  private ask(address: string): void {
    const stop = new AbortController()
    this.cut = () => stop.abort()
    void probe(address, stop.signal, this.around).then((answer) => {
      if (stop.signal.aborted) return
      if (answer !== "works") return this.over(answer)
      this.socketFailures += 1
      if (!this.hasHadSocket && this.socketFailures >= socketTries) return this.connect()
      this.wait(null)
    })
  }

  private over(end: End): void {
    this.cut()
    if (end.how === "unopened") return this.wait(null)
    if (end.how === "broken") return isSignedOut(end.reason) ? this.finish("signed-out") : this.wait(null)
    if (end.status === 401) return this.finish("signed-out")
    if (end.status === 403 || end.status === 404) return this.finish("gone")
    if (end.status === 400 && !this.isPlaceRefused) return this.restart()
    this.wait(end.retryAfterMs)
  }

  private restart(): void {
    this.isPlaceRefused = true
    this.wanted.placeRefused()
    if (!this.isClosed) this.connect()
  }

  private wait(atLeastMs: number | null): void {
    this.attempt += 1
    const ms = Math.max(backoffMs(this.attempt, () => this.around.random()), atLeastMs ?? 0)
    this.cut = this.around.after(ms, () => this.connect())
    this.tell({ state: "waiting", attempt: this.attempt, until: this.around.now() + ms })
  }

  private finish(why: EndedBy): void {
    if (why === "gone") this.close()
    this.state = { state: "ended", why }
    this.wanted.connection(this.state)
  }

  /** Also one that is under way: it was asked for in the session before, and would be told that this has ended. */
  private signedIn(): void {
    if (this.state.state === "open") return
    this.attempt = 0
    this.connect()
  }

  /** The network is gone: an open socket would not notice for minutes. */
  private lose(): void {
    if (this.state.state === "open" || this.state.state === "connecting") this.over({ how: "broken", reason: "" })
  }

  private shown(): void {
    const isStale = this.state.state === "open" && this.around.now() - this.heardAt > staleMs
    if (this.state.state === "waiting" || isStale) this.connect()
  }

  private tell(now: Connection): void {
    if (this.isClosed) return
    this.state = now
    this.wanted.connection(now)
  }
}

/** In the server's words: `server/stream`. Of a chat it may say "or": then the next try is told which of the two it is. */
function isSignedOut(reason: string): boolean {
  return reason.startsWith("The session has ended")
}
