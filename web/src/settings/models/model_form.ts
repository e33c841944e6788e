/** A model as it is typed, and as it is sent. */
import type { KnownModel, ModelConfig, ModelPrices, Provider, UpdateModelConfig } from "../../api/schema"

export const priceNames = ["input", "output", "cache_read", "cache_write"] as const
export type PriceName = (typeof priceNames)[number]
export type TypedPrices = Record<PriceName, string>

export interface TypedModel {
  ai_provider_id: string
  model: string
  display_name: string
  enabled: boolean
  is_default: boolean
  /** null: as the catalogue has it. */
  context_limit: number | null
  compression_threshold: number | null
  /** All empty: the catalogue's. */
  prices: TypedPrices
}

export const noPrices: TypedPrices = { input: "", output: "", cache_read: "", cache_write: "" }

export function newModel(provider: string, model = ""): TypedModel {
  return {
    ai_provider_id: provider,
    model,
    display_name: "",
    enabled: true,
    is_default: false,
    context_limit: null,
    compression_threshold: null,
    prices: noPrices,
  }
}

/** The address of the demo's provider, which no network has. */
const DEMO_URL = "http://demo.invalid/v1"

/** Whether a model of this provider becomes the default whatever is asked: there is none yet, or only the demo's. */
export function isFirst(provider: Provider, providers: readonly Provider[], models: readonly ModelConfig[]): boolean {
  const demos = new Set(providers.filter((one) => one.base_url === DEMO_URL).map((one) => one.id))
  return models.length === 0 || (!demos.has(provider.id) && models.every((one) => demos.has(one.ai_provider_id)))
}

export function typedFrom(model: ModelConfig): TypedModel {
  const { ai_provider_id, display_name, enabled, is_default, context_limit, compression_threshold } = model
  const prices = model.price_source === "config" ? typedPrices(model.prices) : noPrices
  return { ai_provider_id, model: model.model, display_name, enabled, is_default, context_limit, compression_threshold, prices }
}

/** What the catalogue says of a model is proposed, and may be changed before it is added. */
export function withKnown(typed: TypedModel, known: KnownModel): TypedModel {
  return { ...typed, model: known.model, display_name: known.display_name, context_limit: known.context_limit }
}

export function typedPrices(prices: ModelPrices): TypedPrices {
  return {
    input: prices.input ?? "",
    output: prices.output ?? "",
    cache_read: prices.cache_read ?? "",
    cache_write: prices.cache_write ?? "",
  }
}

/** A number that was taken out of its field is left as it is stored: there is no model without one. */
export function asSent(typed: Partial<TypedModel>): UpdateModelConfig {
  const { context_limit, compression_threshold, prices, ...rest } = typed
  return {
    ...rest,
    ...(typeof context_limit === "number" && { context_limit }),
    ...(typeof compression_threshold === "number" && { compression_threshold }),
    ...(prices && { prices: sentPrices(prices) }),
  }
}

function sentPrices(prices: TypedPrices): ModelPrices | null {
  const given = priceNames.filter((name) => prices[name].trim() !== "")
  if (given.length === 0) return null
  return Object.fromEntries(given.map((name) => [name, prices[name].trim()]))
}
