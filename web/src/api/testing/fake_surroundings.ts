/** A browser for tests: time stands still until it is told to pass, and sockets do what the test says. */
import type { Moment, SocketListener, Surroundings } from "../surroundings"

export interface FakeSocket extends SocketListener {
  readonly url: string
  isClosed: boolean
}

export class FakeSurroundings implements Surroundings {
  readonly sockets: FakeSocket[] = []
  readonly fetched: string[] = []
  /** What HTTP answers; null: the network is down. */
  answer: () => Response | null = () => null
  chance = 0.5
  private time = 0
  private timers: { at: number; run: () => void }[] = []
  private readonly listeners = new Map<Moment, Set<() => void>>()

  socket = (url: string, listener: SocketListener) => {
    const socket: FakeSocket = { ...listener, url, isClosed: false }
    this.sockets.push(socket)
    return () => {
      socket.isClosed = true
    }
  }

  fetch = (url: string, init: RequestInit) => {
    this.fetched.push(url)
    const response = this.answer()
    return new Promise<Response>((resolve, reject) => {
      init.signal?.addEventListener("abort", () => reject(new Error("aborted")))
      if (response) resolve(response)
      else reject(new TypeError("network"))
    })
  }

  after = (ms: number, run: () => void) => {
    const timer = { at: this.time + ms, run }
    this.timers.push(timer)
    return () => {
      this.timers = this.timers.filter((one) => one !== timer)
    }
  }

  random = () => this.chance
  now = () => this.time

  on = (moment: Moment, run: () => void) => {
    const of = this.listeners.get(moment) ?? new Set()
    this.listeners.set(moment, of.add(run))
    return () => void of.delete(run)
  }

  /** The socket that was opened last. */
  get last(): FakeSocket {
    const socket = this.sockets.at(-1)
    if (!socket) throw new Error("no socket")
    return socket
  }

  get pending(): number {
    return this.timers.length
  }

  happen(moment: Moment): void {
    for (const run of Array.from(this.listeners.get(moment) ?? [])) run()
  }

  get listening(): number {
    return [...this.listeners.values()].reduce((sum, of) => sum + of.size, 0)
  }

  /** Lets time pass as a machine that sleeps does: its timers stand still. */
  sleep(ms: number): void {
    this.time += ms
    for (const timer of this.timers) timer.at += ms
  }

  /** Lets time pass, with all that is due in it. */
  async pass(ms: number): Promise<void> {
    const end = this.time + ms
    await settled()
    for (;;) {
      const next = this.timers.toSorted((one, other) => one.at - other.at)[0]
      if (!next || next.at > end) break
      this.timers = this.timers.filter((one) => one !== next)
      this.time = next.at
      next.run()
      await settled()
    }
    this.time = end
  }
}

/** Until promises that are kept have been told. */
export async function settled(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await Promise.resolve()
  await new Promise((resolve) => setTimeout(resolve, 0))
}
