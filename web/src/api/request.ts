/** One way to ask the server: typed by the generated table of routes, and failing in two ways only. */
import type { Problem, Routes } from "./schema"
import { hearTime } from "./server_clock"
import { signInCount, tellSignedOut } from "./session"

export type Route = keyof Routes
type Of<R extends Route> = Routes[R]
type Part<R extends Route, K extends string> = K extends keyof Of<R> ? Pick<Of<R>, K> : unknown
export type Asked<R extends Route> = Part<R, "path"> & Part<R, "query"> & Part<R, "body"> & Options
export type Answer<R extends Route> = Of<R>["answer"]

export interface Options {
  signal?: AbortSignal
  /** Sent again with the same key, it is done once. */
  idempotencyKey?: string
}

/** The server has said no. */
export class Refused extends Error {
  override name = "Refused"
  readonly status: number
  readonly problem: Problem
  /** Seconds that the server asks to wait for. */
  readonly retryAfter: number | null

  constructor(status: number, problem: Problem, retryAfter: number | null = null) {
    super(problem.message)
    this.status = status
    this.problem = problem
    this.retryAfter = retryAfter
  }

  /** What is wrong with a field of the request, where that was said. */
  of(field: string): string | undefined {
    const found = this.problem.validations?.find((one) => one.field === field)
    return found && asSentence(found.detail)
  }
}

/** What is wrong with a field is told as part of a sentence; below the field it is all of one. */
export function asSentence(detail: string): string {
  const begun = detail.slice(0, 1).toUpperCase() + detail.slice(1)
  return /[.!?]$/.test(begun) ? begun : `${begun}.`
}

/** No answer came: nobody knows whether it was done. */
export class Unreachable extends Error {
  override name = "Unreachable"
}

type Loose = { path?: Record<string, unknown>; query?: Record<string, unknown>; body?: unknown } & Options

export async function request<R extends Route>(route: R, ...[asked]: {} extends Asked<R> ? [Asked<R>?] : [Asked<R>]): Promise<Answer<R>> {
  const { path, query, body, signal, idempotencyKey } = (asked ?? {}) as Loose
  const [method = "GET", template = "/"] = route.split(" ")
  const headers: Record<string, string> = {}
  if (body !== undefined) headers["content-type"] = "application/json"
  if (idempotencyKey !== undefined) headers["idempotency-key"] = idempotencyKey
  const init: RequestInit = { method, headers, credentials: "same-origin" }
  if (body !== undefined) init.body = JSON.stringify(body)
  if (signal) init.signal = signal
  const begun = Date.now()
  const response = await fetched(address(template, path, query), init)
  // Not of files: a browser keeps those, with the date of when they came.
  hearTime(response.headers.get("date"), begun, Date.now())
  return (await answered(response)) as Answer<R>
}

/** The address of a route, with what varies put in; for links and for streams. */
export function address(template: string, path: Record<string, unknown> = {}, query: Record<string, unknown> = {}): string {
  const filled = template.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(String(path[name])))
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) {
    for (const one of Array.isArray(value) ? value : [value]) if (one !== undefined && one !== null) search.append(name, String(one))
  }
  return search.size > 0 ? `${filled}?${search}` : filled
}

export async function fetched(url: string, init: RequestInit): Promise<Response> {
  for (;;) {
    const before = signInCount()
    const response = await fetchedOnce(url, init)
    // Asked in a session that had ended, answered when the next one had begun: nothing was done, and now it can be.
    if (response.status !== 401 || signInCount() === before) return response
  }
}

async function fetchedOnce(url: string, init: RequestInit): Promise<Response> {
  try {
    return await fetch(url, init)
  } catch (error) {
    if (init.signal?.aborted) throw error
    throw noAnswer(error)
  }
}

export async function answered(response: Response): Promise<unknown> {
  const mediaType = response.headers.get("content-type") ?? ""
  const isJson = mediaType.includes("json")
  if (!response.ok) {
    const unsaid: Problem = { message: `The server answered ${response.status}.` }
    const problem = isJson ? await response.json().catch(() => unsaid) : unsaid
    const after = Number(response.headers.get("retry-after"))
    if (response.status === 401 && !response.url.endsWith("/users/login")) tellSignedOut()
    throw new Refused(response.status, problem as Problem, Number.isFinite(after) && after > 0 ? after : null)
  }
  if (mediaType.startsWith("text/html")) throw noAnswer(new Error("A page came, of something between here and the server."))
  if (response.status === 204 || !isJson) return null
  return await whole(response)
}

/** The connection may be lost after the first bytes: then it was done, and what was answered is not known. */
async function whole(response: Response): Promise<unknown> {
  try {
    return await response.json()
  } catch (error) {
    if (error instanceof DOMException && error.name === "AbortError") throw error
    throw noAnswer(error)
  }
}

function noAnswer(cause: unknown): Unreachable {
  return new Unreachable("The server did not answer.", { cause })
}
