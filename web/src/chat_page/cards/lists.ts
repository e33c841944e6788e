/** Lists in values that came as JSON. */
import { type Fields, isFields } from "../../chat/guards"

/** The objects in a list that is a field of an object. */
export function fieldsIn(value: unknown, field: string): readonly Fields[] {
  return itemsIn(value, field).filter(isFields)
}

export function textsIn(value: unknown, field: string): readonly string[] {
  return itemsIn(value, field).filter((one) => typeof one === "string")
}

function itemsIn(value: unknown, field: string): readonly unknown[] {
  const found = isFields(value) ? value[field] : undefined
  return Array.isArray(found) ? found : []
}
