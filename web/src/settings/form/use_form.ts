/** A form over something stored: what was typed stays until it is saved, whatever the server says. */
import { type FormEvent, useEffect, useRef, useState } from "react"
import { asSentence, Refused } from "../../api/request"
import type { Validation } from "../../api/schema"
import { focusFirstWrong } from "../../ui/inputs/first_wrong"

export interface Form<T extends object> {
  value: T
  set(patch: Partial<T>): void
  isChanged: boolean
  isSaving: boolean
  /** For a moment after it was. */
  isSaved: boolean
  error: Error | null
  /** What is wrong with a field, until something else is in it. */
  of(field: string): string | undefined
  /** What is wrong with fields that nobody has asked for: it has to be said elsewhere. */
  unshown(): readonly Validation[]
  submit(event?: FormEvent<HTMLFormElement>): void
  reset(): void
  /** Takes back what was said to be wrong. */
  forgive(): void
}

export type Check<T> = (value: T) => readonly Validation[]

interface Failure<T> {
  /** null: it was not sent. */
  error: Error | null
  wrong: readonly Validation[]
  /** What was in the form. */
  value: T
}

const MOMENT = 2500

/**
 * `save` is given all that is in the form, and what of it differs from what is stored; it may answer with what is stored now.
 * What `check` finds wrong is not sent.
 */
export function useForm<T extends object>(stored: T, save: (value: T, changes: Partial<T>) => Promise<T | void>, check?: Check<T>): Form<T> {
  const [base, setBase] = useState(stored)
  const [seen, setSeen] = useState(stored)
  const [value, setValue] = useState(stored)
  const [isSaving, setSaving] = useState(false)
  const [isSaved, setSaved] = useState(false)
  const [failure, setFailure] = useState<Failure<T> | null>(null)
  const sent = useRef<HTMLFormElement | null>(null)
  /** Fields ask what is wrong with them while they are drawn, and so before what stands below them. */
  const asked = useRef(new Set<string>())
  const isChanged = !isSame(base, value)

  if (!isSame(seen, stored)) {
    setSeen(stored)
    setBase(stored)
    if (!isChanged) setValue(stored)
  }

  useEffect(() => {
    if (!isSaved) return
    const timer = setTimeout(() => setSaved(false), MOMENT)
    return () => clearTimeout(timer)
  }, [isSaved])

  useEffect(() => {
    if (failure) focusFirstWrong(sent.current)
  }, [failure])

  async function run() {
    const wrong = check?.(value) ?? []
    setFailure(wrong.length > 0 ? { error: null, wrong, value } : null)
    if (wrong.length > 0) return
    setSaving(true)
    try {
      const now = (await save(value, changesOf(base, value))) ?? value
      setBase(now)
      setValue(now)
      setSaved(true)
    } catch (thrown) {
      const error = thrown instanceof Error ? thrown : new Error(String(thrown))
      setFailure({ error, wrong: error instanceof Refused ? (error.problem.validations ?? []) : [], value })
    } finally {
      setSaving(false)
    }
  }

  return {
    value,
    set(patch) {
      setSaved(false)
      setValue((before) => ({ ...before, ...patch }))
    },
    isChanged,
    isSaving,
    isSaved: isSaved && !isChanged,
    error: failure?.error ?? null,
    of(field) {
      asked.current.add(field)
      const wrong = failure?.wrong.find((one) => one.field === field)
      return wrong && isStillThere(field, failure?.value, value) ? asSentence(wrong.detail) : undefined
    },
    unshown: () => failure?.wrong.filter((one) => !asked.current.has(one.field)) ?? [],
    submit(event) {
      event?.preventDefault()
      sent.current = event?.currentTarget ?? null
      if (!isSaving) void run()
    },
    reset() {
      setValue(base)
      setFailure(null)
    },
    forgive: () => setFailure(null),
  }
}

/** Whether a field has what was refused. One that is called otherwise in the form is as all of it. */
function isStillThere(field: string, refused: unknown, value: unknown): boolean {
  const [before, now] = [refused, value].map((one) => at(one, field.split(".")))
  return before === undefined && now === undefined ? isSame(refused, value) : isSame(before, now)
}

function at(value: unknown, path: readonly string[]): unknown {
  return path.reduce((inner, name) => (inner as Record<string, unknown> | undefined)?.[name], value)
}

function isSame(one: unknown, other: unknown): boolean {
  return one === other || JSON.stringify(one) === JSON.stringify(other)
}

function changesOf<T extends object>(base: T, value: T): Partial<T> {
  const changes: Partial<T> = {}
  for (const key in value) if (!isSame(base[key], value[key])) changes[key] = value[key]
  return changes
}
