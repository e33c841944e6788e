/** What is known of values that came as JSON. */
export type Fields = Readonly<Record<string, unknown>>

export function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value)
}

/** A text field of an object; empty when there is none. */
export function textOf(value: unknown, field: string): string {
  const found = isFields(value) ? value[field] : undefined
  return typeof found === "string" ? found : ""
}

export function numberOf(value: unknown, field: string): number | null {
  const found = isFields(value) ? value[field] : undefined
  return typeof found === "number" && Number.isFinite(found) ? found : null
}
