/** A template as it is typed: what is structured is JSON, checked before it is sent. */
import type { CreateTemplate, ProvisionerKind, Template, UpdateTemplate } from "../../api/schema"
import { words } from "../../words/with_settings"

export interface TypedTemplate {
  name: string
  provisioner: ProvisionerKind
  display_name: string
  description: string
  config: string
  parameters: string
  agents_allowed: boolean
  ttl_minutes: number
}

const MINUTE = 60_000

export const newTemplate: TypedTemplate = {
  name: "",
  provisioner: "docker",
  display_name: "",
  description: "",
  config: "{}",
  parameters: "[]",
  agents_allowed: true,
  ttl_minutes: 0,
}

export function typedFrom(template: Template): TypedTemplate {
  const { name, provisioner, display_name, description, agents_allowed } = template
  const config = JSON.stringify(template.config ?? {}, null, 2)
  const parameters = JSON.stringify(template.parameters, null, 2)
  return { name, provisioner, display_name, description, agents_allowed, config, parameters, ttl_minutes: template.default_ttl_ms / MINUTE }
}

/** What is wrong with the text of a field, if anything is. */
export function jsonProblem(text: string, shape: "object" | "list"): string | undefined {
  try {
    const value: unknown = JSON.parse(text)
    const isList = Array.isArray(value)
    const isRight = shape === "list" ? isList : typeof value === "object" && value !== null && !isList
    return isRight ? undefined : words.settings.templates.shapes[shape]
  } catch (failure) {
    return failure instanceof Error ? failure.message : String(failure)
  }
}

export function asUpdate(changes: Partial<TypedTemplate>): UpdateTemplate {
  const { config, parameters, ttl_minutes, provisioner: _, ...rest } = changes
  return {
    ...rest,
    ...(config !== undefined && { config: JSON.parse(config) as Record<string, unknown> }),
    ...(parameters !== undefined && { parameters: JSON.parse(parameters) as NonNullable<UpdateTemplate["parameters"]> }),
    ...(ttl_minutes !== undefined && { default_ttl_ms: Math.round(ttl_minutes * MINUTE) }),
  }
}

export function asNew(typed: TypedTemplate): CreateTemplate {
  return { ...asUpdate(typed), name: typed.name, provisioner: typed.provisioner }
}
