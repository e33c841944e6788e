/** A form over something stored: what was typed stays until it is saved, whatever the server says. */
import { type FormEvent, useEffect, useState } from "react"
import { Refused } from "../../api/request"

export interface Form<T extends object> {
  value: T
  set(patch: Partial<T>): void
  isChanged: boolean
  isSaving: boolean
  /** For a moment after it was. */
  isSaved: boolean
  error: Error | null
  /** What is wrong with a field. */
  of(field: string): string | undefined
  submit(event?: FormEvent): void
  reset(): void
}

const MOMENT = 2500

/** `save` is given all that is in the form, and what of it differs from what is stored; it may answer with what is stored now. */
export function useForm<T extends object>(stored: T, save: (value: T, changes: Partial<T>) => Promise<T | void>): Form<T> {
  const [base, setBase] = useState(stored)
  const [seen, setSeen] = useState(stored)
  const [value, setValue] = useState(stored)
  const [isSaving, setSaving] = useState(false)
  const [isSaved, setSaved] = useState(false)
  const [error, setError] = useState<Error | null>(null)
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

  async function run() {
    setSaving(true)
    setError(null)
    try {
      const now = (await save(value, changesOf(base, value))) ?? value
      setBase(now)
      setValue(now)
      setSaved(true)
    } catch (failure) {
      setError(failure instanceof Error ? failure : new Error(String(failure)))
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
    error,
    of: (field) => (error instanceof Refused ? error.of(field) : undefined),
    submit(event) {
      event?.preventDefault()
      if (!isSaving) void run()
    },
    reset() {
      setValue(base)
      setError(null)
    },
  }
}

function isSame(one: unknown, other: unknown): boolean {
  return one === other || JSON.stringify(one) === JSON.stringify(other)
}

function changesOf<T extends object>(base: T, value: T): Partial<T> {
  const changes: Partial<T> = {}
  for (const key in value) if (!isSame(base[key], value[key])) changes[key] = value[key]
  return changes
}
