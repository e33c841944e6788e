/** A server for stories: what it answers is given by route, and what it was asked is written down. */
import { QueryClient, QueryClientProvider } from "@tanstack/react-query"
import { type ReactNode, useEffect, useState } from "react"
import { Router } from "wouter"
import { memoryLocation } from "wouter/memory-location"
import type { Answer, Route } from "../request"

/** The server has not answered yet. */
export const unanswered = Symbol("unanswered")

export class Refusal {
  readonly status: number
  readonly body: { message: string; validations?: { field: string; detail: string }[] }

  constructor(status: number, message: string, wrong: Record<string, string> = {}) {
    this.status = status
    this.body = { message, validations: Object.entries(wrong).map(([field, detail]) => ({ field, detail })) }
  }
}

/** A value is the answer; what is not named is refused. */
export type Answers = { [R in Route]?: Answer<R> | Refusal | typeof unanswered }

export interface Question {
  route: string
  body: unknown
}

export interface AnsweredProps {
  answers: Answers
  /** The address of the page. */
  path?: string
  asked?: Question[]
  children: ReactNode
}

export function Answered({ answers, path = "/", asked = [], children }: AnsweredProps) {
  const [client] = useState(() => new QueryClient({ defaultOptions: { queries: { retry: false } } }))
  const [location] = useState(() => memoryLocation({ path }))
  const [isReady, setReady] = useState(false)
  useEffect(() => {
    const before = window.fetch
    window.fetch = (url, init) => answer(answers, asked, String(url), init)
    setReady(true)
    return () => {
      window.fetch = before
    }
    // A story has one server for as long as it is shown.
    // oxlint-disable-next-line react-hooks/exhaustive-deps
  }, [])
  return (
    <Router hook={location.hook} searchHook={location.searchHook}>
      <QueryClientProvider client={client}>{isReady && children}</QueryClientProvider>
    </Router>
  )
}

async function answer(answers: Answers, asked: Question[], url: string, init: RequestInit = {}): Promise<Response> {
  const method = init.method ?? "GET"
  const path = url.split("?")[0] ?? ""
  const found = Object.keys(answers)
    .filter((route) => fits(route, method, path))
    .sort((one, other) => one.split("{").length - other.split("{").length)[0]
  asked.push({ route: found ?? `${method} ${path}`, body: typeof init.body === "string" ? JSON.parse(init.body) : undefined })
  const given = found === undefined ? new Refusal(404, `${method} ${path} is not in this story.`) : answers[found as Route]
  if (given === unanswered) return new Promise(() => {})
  if (given instanceof Refusal) return Response.json(given.body, { status: given.status })
  return given === null ? new Response(null, { status: 204 }) : Response.json(given)
}

function fits(route: string, method: string, path: string): boolean {
  const [of, template = ""] = route.split(" ")
  return of === method && new RegExp(`^${template.replace(/\{\w+\}/g, "[^/]+")}$`).test(path)
}
