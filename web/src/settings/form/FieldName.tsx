import { words } from "../../words/with_settings"

const { providers, models, tokens, templates, git, users, password, limits } = words.settings
const { account } = words.setup

/** What the fields of requests are called on the pages. */
const labels: Record<string, string> = {
  ai_provider_id: models.provider,
  api_key: providers.key,
  api_url: git.apiUrl,
  base_url: providers.address,
  compression_threshold: models.threshold,
  config: templates.config,
  context_limit: models.contextLimit,
  description: templates.description,
  display_name: providers.displayName,
  email: account.email,
  enabled: words.settings.on,
  host: git.host,
  is_default: models.isDefault,
  limit_micros: limits.limit,
  model: models.known,
  name: providers.name,
  old_password: password.old,
  parameters: templates.parameters,
  password: account.password,
  period: limits.period,
  role: users.role,
  scopes: tokens.rights,
  token: git.token,
  type: providers.type,
  username: account.username,
  workspace_ttl_ms: words.settings.lifetime.label,
  ...within("options", providers.options),
  ...within("prices", models.price),
}

function within(outer: string, inner: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(inner).map(([name, label]) => [`${outer}.${name}`, label]))
}

/** A field that a request has and no page shows is called by its own name. */
export function FieldName({ of }: { of: string }) {
  return labels[of] ?? <code>{of}</code>
}
