/** What each type of provider needs; docs/models.md has the same table for people. */
import type { ProviderKind } from "../../api/schema"
import { words } from "../../words/with_settings"

export type OptionName = "api" | "organization" | "project" | "api_version" | "region" | "access_key_id" | "profile" | "location"

export interface KindNeeds {
  label: string
  address: "needed" | "optional" | "none"
  key: "needed" | "optional"
  /** Its key is a document of several lines. */
  isKeyLong?: boolean
  /** Its models are the vendor's own: the server knows one to test with. */
  hasOwnModels?: boolean
  options: readonly OptionName[]
  /** Which API is spoken when none is chosen. */
  api?: "responses" | "chat"
}

const text = words.settings.providers.kinds

export const kinds: Record<ProviderKind, KindNeeds> = {
  anthropic: { label: text.anthropic, address: "optional", key: "needed", hasOwnModels: true, options: [] },
  openai: { label: text.openai, address: "optional", key: "needed", hasOwnModels: true, options: ["api", "organization", "project"], api: "responses" },
  google: { label: text.google, address: "optional", key: "needed", hasOwnModels: true, options: [] },
  azure: { label: text.azure, address: "needed", key: "needed", options: ["api", "api_version"], api: "responses" },
  bedrock: { label: text.bedrock, address: "optional", key: "optional", options: ["region", "access_key_id", "profile"] },
  vertex: { label: text.vertex, address: "optional", key: "optional", isKeyLong: true, options: ["project", "location"] },
  openrouter: { label: text.openrouter, address: "optional", key: "needed", options: [] },
  vercel: { label: text.vercel, address: "optional", key: "needed", options: [] },
  "openai-compat": { label: text.compat, address: "needed", key: "optional", options: ["api"], api: "chat" },
}

export const kindNames = Object.keys(kinds).filter((name): name is ProviderKind => name in kinds)
