import type { ModelConfig } from "../../api/schema"

export function nameOf(model: ModelConfig): string {
  return model.display_name || model.model
}

export function contextText(tokens: number): string {
  return tokens >= 1_000_000 ? `${Math.round(tokens / 100_000) / 10}M` : `${Math.round(tokens / 1000)}K`
}

/** By name, id, provider, or the size of the context as it is shown: every word has to be somewhere. */
export function isModelMeant(model: ModelConfig, typed: string): boolean {
  const told = `${nameOf(model)} ${model.model} ${model.provider_name} ${contextText(model.context_limit)}`.toLowerCase()
  return typed
    .toLowerCase()
    .split(/\s+/)
    .every((word) => told.includes(word))
}
