/** A provider as it is typed, and as it is sent. */
import type { Provider, ProviderKind, UpdateProvider, Validation } from "../../api/schema"
import { words } from "../../words/with_settings"
import { kinds, type OptionName } from "./kinds"

export interface TypedProvider {
  type: ProviderKind
  name: string
  display_name: string
  base_url: string
  /** Empty: as it is stored. It is never read back. */
  api_key: string
  options: Record<string, unknown>
  enabled: boolean
}

export const newProvider: TypedProvider = {
  type: "anthropic",
  name: "anthropic",
  display_name: "",
  base_url: "",
  api_key: "",
  options: {},
  enabled: true,
}

export function typedFrom(provider: Provider): TypedProvider {
  const { type, name, display_name, base_url, options, enabled } = provider
  return { type, name, display_name, base_url, api_key: "", options, enabled }
}

/** A name that was not changed by hand follows the type. A key does not: it is for the other one. */
export function withKind(typed: TypedProvider, type: ProviderKind): TypedProvider {
  return { ...typed, type, name: typed.name === typed.type ? type : typed.name, api_key: "", options: {} }
}

export function withOption(typed: TypedProvider, name: OptionName, value: string): Record<string, unknown> {
  const { [name]: _, ...others } = typed.options
  return value === "" ? others : { ...others, [name]: value }
}

export function optionText(typed: TypedProvider, name: OptionName): string {
  const value = typed.options[name]
  return typeof value === "string" ? value : ""
}

export function asUpdate(changes: Partial<TypedProvider>): UpdateProvider {
  const { type: _, api_key, ...rest } = changes
  return api_key ? { ...rest, api_key } : rest
}

/** What a provider of this type can't be asked without. */
export function lacks(typed: TypedProvider): Validation[] {
  const needs = kinds[typed.type]
  const text = words.settings.providers
  const found: Validation[] = []
  if (needs.address === "needed" && typed.base_url === "") found.push({ field: "base_url", detail: text.noAddress })
  if (needs.key === "needed" && typed.api_key === "") found.push({ field: "api_key", detail: text.noKey })
  return found
}
