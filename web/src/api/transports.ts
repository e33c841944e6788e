/** The two ways to get a stream: a WebSocket, and server-sent events over plain HTTP where there is something against those. */
import type { Surroundings } from "./surroundings"

/** Each transport calls `over` once, and nothing after it. */
export interface Listener {
  opened(): void
  /** Texts that came together, each of them JSON. None: a sign of life. */
  came(texts: readonly string[]): void
  over(end: End): void
}

/** `broken` after it was open, with what the server had to say; `refused` by HTTP; `unopened` for a reason that is not told. */
export type End =
  | { readonly how: "broken"; readonly reason: string }
  | { readonly how: "refused"; readonly status: number; readonly retryAfterMs: number | null }
  | { readonly how: "unopened" }

/** Opens a connection. Gives what cuts it; nothing is heard of it afterwards. */
export type Transport = (url: string, listener: Listener, around: Surroundings) => () => void

/** The server says something at least every 25 seconds: one that says nothing for so long is not there any more, whatever
 * the browser thinks of the connection. */
const silentMs = 40_000

/** Runs `fallenSilent` when nothing was heard for too long. */
class Silence {
  private readonly around: Surroundings
  private readonly fallenSilent: () => void
  private forget: () => void = () => {}

  constructor(around: Surroundings, fallenSilent: () => void) {
    this.around = around
    this.fallenSilent = fallenSilent
    this.heard()
  }

  heard(): void {
    this.forget()
    this.forget = this.around.after(silentMs, this.fallenSilent)
  }

  end(): void {
    this.forget()
  }
}

export const bySocket: Transport = (url, listener, around) => {
  let isOpen = false
  const over = (reason: string) => {
    silence.end()
    listener.over(isOpen ? { how: "broken", reason } : { how: "unopened" })
  }
  const close = around.socket(url, {
    opened: () => {
      isOpen = true
      silence.heard()
      listener.opened()
    },
    message: (data) => {
      silence.heard()
      if (typeof data === "string") listener.came([data])
    },
    closed: over,
  })
  const silence = new Silence(around, () => {
    close()
    over("")
  })
  return () => {
    silence.end()
    close()
  }
}

export const byEvents: Transport = (url, listener, around) => {
  const cut = new AbortController()
  let isOpen = false
  const silence = new Silence(around, () => {
    cut.abort()
    listener.over(isOpen ? { how: "broken", reason: "" } : { how: "unopened" })
  })
  const heard = () => {
    isOpen = true
    silence.heard()
  }
  cut.signal.addEventListener("abort", () => silence.end())
  void readEvents(url, cut.signal, heard, listener, around).finally(() => silence.end())
  return () => cut.abort()
}

async function readEvents(url: string, signal: AbortSignal, heard: () => void, listener: Listener, around: Surroundings): Promise<void> {
  let isOpen = false
  const lines = new EventLines()
  try {
    const response = await around.fetch(url, eventsInit(signal))
    if (signal.aborted) return
    if (!response.ok || !response.body) return listener.over(refusal(response))
    isOpen = true
    heard()
    listener.opened()
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader()
    for (;;) {
      const { done, value } = await reader.read()
      if (signal.aborted) return
      if (done) break
      heard()
      listener.came(lines.read(value))
    }
  } catch {
    if (signal.aborted) return
  }
  listener.over(isOpen ? { how: "broken", reason: lines.comment } : { how: "unopened" })
}

/** Whether a stream could be had by plain HTTP: browsers don't tell why a WebSocket was refused. */
export async function probe(url: string, signal: AbortSignal, around: Surroundings): Promise<"works" | End> {
  const done = new AbortController()
  const stop = () => done.abort()
  const silence = new Silence(around, stop)
  signal.addEventListener("abort", stop)
  try {
    const response = await around.fetch(url, eventsInit(done.signal))
    return response.ok ? "works" : refusal(response)
  } catch {
    return { how: "unopened" }
  } finally {
    signal.removeEventListener("abort", stop)
    silence.end()
    done.abort()
  }
}

function eventsInit(signal: AbortSignal): RequestInit {
  return { headers: { accept: "text/event-stream" }, credentials: "same-origin", cache: "no-store", signal }
}

function refusal(response: Response): End {
  const seconds = Number(response.headers.get("retry-after") ?? "")
  return { how: "refused", status: response.status, retryAfterMs: seconds > 0 ? seconds * 1000 : null }
}

/** The lines of server-sent events. Every event of chatd has its data on one line, and says its type and id there too. */
class EventLines {
  /** The last thing that was said beside the events: at the end, the reason for it. */
  comment = ""
  private rest = ""

  read(chunk: string): string[] {
    const lines = (this.rest + chunk).split("\n")
    this.rest = lines.pop() ?? ""
    const texts: string[] = []
    for (const line of lines) {
      if (line.startsWith("data: ")) texts.push(line.slice("data: ".length))
      else if (line.startsWith(": ")) this.comment = line.slice(2)
    }
    return texts
  }
}
