// Written by `make gen` (scripts/web_types.py) from the API document. Do not edit.

import type { Part } from "./events"

export interface AddGroupMembers {
  user_ids: string[]
}

/** A second model that a chat's model may ask. 0 uses or tokens: as many as it takes. Without a model it is the chat's own. */
export interface Advisor {
  enabled?: boolean
  max_uses_per_run?: number
  max_output_tokens?: number
  model_config_id?: string | null
  reasoning_effort?: ReasoningEffort | null
}

export interface AuditActor {
  kind: string
  name: string
  id?: string | null
}

export interface AuditEntry {
  id: number
  at: string
  actor: AuditActor
  action: string
  target: AuditTarget
  changes: Record<string, unknown>
  outcome: string
  request_id: string
  client_address: string
}

export interface AuditPage {
  entries: AuditEntry[]
  next_before?: number | null
}

export interface AuditTarget {
  kind: string
  id: string
  name: string
}

export interface BuildInfo {
  version: string
  external_url: string
  deployment_id: string
  experiments: string[]
  webpush_public_key: string
}

export interface BuildLogLine {
  id: number
  created_at: string
  level: string
  stage: string
  line: string
}

export interface BuildLogs {
  logs: BuildLogLine[]
  next_after: number | null
  build: WorkspaceBuild
}

/** Why there was a build. */
export type BuildReason = "initiator" | "chat" | "autostop" | "recovery"

export type BuildStatus = "pending" | "running" | "succeeded" | "failed" | "cancelled"

/** What a build makes of a workspace. */
export type BuildTransition = "start" | "stop" | "delete"

export interface Chat {
  id: string
  organization_id: string
  owner_id: string
  root_chat_id: string
  last_model_config_id: string
  title: string
  status: Status
  last_turn_summary: string | null
  summary: string | null
  created_at: string
  updated_at: string
  archived: boolean
  shared: boolean
  pin_order: number
  mcp_server_ids: string[]
  labels: Record<string, string>
  has_unread: boolean
  client_type: "ui" | "api"
  children: Chat[]
  owner_username?: string | null
  owner_name?: string | null
  parent_chat_id?: string | null
  last_reasoning_effort?: ReasoningEffort | null
  plan_mode?: "plan" | null
  last_error?: ChatError | null
  queued_for_capacity?: boolean
  forked_from_chat_id?: string | null
  forked_from_message_id?: number | null
  files?: ChatFile[] | null
  workspace_id?: string | null
  workspace?: WorkspaceSummary | null
  context?: ChatContext | null
  context_dirty_since?: string | null
  match?: ChatMatch | null
  diff_status?: ChatDiffStatus | null
}

export interface ChatContext {
  hash: string
  pinned_at: string
  resources: ChatContextResource[]
}

export interface ChatContextResource {
  kind: ContextKind
  source: string
  status: ContextStatus
  size_bytes: number
  name?: string | null
  description?: string | null
  error?: string | null
}

export interface ChatCost {
  chat_id: string
  total_cost_micros: number
  request_count: number
  unpriced_request_count: number
}

export interface ChatDiff {
  chat_id: string
  provider?: string | null
  remote_origin?: string | null
  branch?: string | null
  pull_request_url?: string | null
  diff?: string | null
  is_complete?: boolean
}

export interface ChatDiffStatus {
  chat_id: string
  additions: number
  deletions: number
  changed_files: number
  pull_request_title: string
  pull_request_draft: boolean
  changes_requested: boolean
  branch?: string | null
  remote_origin?: string | null
  ahead?: number | null
  behind?: number | null
  url?: string | null
  pull_request_state?: "open" | "closed" | "merged" | null
  author_login?: string | null
  author_avatar_url?: string | null
  base_branch?: string | null
  head_branch?: string | null
  pr_number?: number | null
  commits?: number | null
  approved?: boolean | null
  reviewer_count?: number | null
  refreshed_at?: string | null
}

export interface ChatError {
  message: string
  retryable: boolean
  kind?: string | null
  provider?: string | null
  detail?: string | null
  status_code?: number | null
}

export interface ChatFile {
  id: string
  owner_id: string
  organization_id: string
  name: string
  mime_type: string
  size_bytes: number
  created_at: string
}

export interface ChatMatch {
  snippet: string
  marks: [number, number][]
  message_id?: number | null
}

export interface ChatMessage {
  id: number
  chat_id: string
  created_at: string
  revision: number
  role: roles_Role
  /** Parts in order. Each is an object with a `type`: text, reasoning, tool-call, tool-result, source, file, file-reference, context-file, skill, or one that this server does not know. */
  content: Part[]
  created_by?: string | null
  model_config_id?: string | null
  reasoning_effort?: ReasoningEffort | null
  usage?: ChatMessageUsage | null
  cost_micros?: number | null
  runtime_ms?: number | null
}

export interface ChatMessageUsage {
  input_tokens: number | null
  output_tokens: number | null
  total_tokens: number | null
  reasoning_tokens: number | null
  cache_creation_tokens: number | null
  cache_read_tokens: number | null
  context_limit: number | null
}

export interface ChatMessagesPage {
  messages: ChatMessage[]
  queued_messages: ChatQueuedMessage[]
  has_more: boolean
}

export interface ChatPrompt {
  id: number
  text: string
}

export interface ChatPrompts {
  prompts: ChatPrompt[]
}

export interface ChatQueuedMessage {
  id: number
  chat_id: string
  /** Parts in order. Each is an object with a `type`: text, reasoning, tool-call, tool-result, source, file, file-reference, context-file, skill, or one that this server does not know. */
  content: Part[]
  created_at: string
  created_by?: string | null
  model_config_id?: string | null
  reasoning_effort?: ReasoningEffort | null
  held_by?: string | null
  held_until?: string | null
}

export interface ClientTool {
  name: string
  description?: string
  input_schema?: Record<string, unknown>
}

export interface ClosedCapabilities {
  images?: boolean | null
  pdfs?: boolean | null
  text_files?: boolean | null
  tools?: boolean | null
  reasoning?: boolean | null
  temperature?: boolean | null
  system_messages?: boolean | null
  max_image_bytes?: number | null
}

export interface CompactionThreshold {
  model_config_id: string
  threshold_percent: number
}

export interface CompactionThresholds {
  thresholds: CompactionThreshold[]
}

export type ContextKind = "instruction_file" | "skill" | "mcp_config"

export type ContextStatus = "ok" | "oversize" | "unreadable" | "invalid"

export interface CostSummary {
  user_id: string
  start_date: string
  end_date: string
  total_cost_micros: number
  request_count: number
  unpriced_request_count: number
  runtime_ms: number
  by_model: ModelCost[]
  by_chat: TitledChatCost[]
  by_day: DayCost[]
}

/** `parameters` are for a start: values that are left out stay as they are. */
export interface CreateBuild {
  transition: BuildTransition
  parameters?: Record<string, string> | null
}

/** A new chat runs at once. What is left out is the default. */
export interface CreateChat {
  content: InputPart[]
  organization_id?: string | null
  system_prompt?: string
  workspace_id?: string | null
  model_config_id?: string | null
  reasoning_effort?: ReasoningEffort | null
  mcp_server_ids?: string[]
  labels?: Record<string, string>
  unsafe_dynamic_tools?: ClientTool[]
  plan_mode?: "" | "plan"
  client_type?: "api" | "ui"
}

/** `code` is the one-time code that `chatd serve` prints while there is no user. */
export interface CreateFirstUser {
  code: string
  email: string
  username: string
  password: string
  display_name?: string
}

/** `api_url` is needed only where the API is not at its usual place. */
export interface CreateGitProvider {
  kind: HostKind
  host: string
  token?: string | null
  api_url?: string | null
}

/** What is left out is the catalogue's, where it knows the model. The first model becomes the default. */
export interface CreateModelConfig {
  ai_provider_id: string
  model: string
  display_name?: string
  enabled?: boolean
  is_default?: boolean
  context_limit?: number
  compression_threshold?: number
  model_config?: ModelCallConfig | null
  prices?: ModelPrices | null
}

/** `options` depend on the type; docs/models.md lists them. */
export interface CreateProvider {
  type: ProviderKind
  name: string
  display_name?: string
  base_url?: string
  api_key?: string | null
  options?: Record<string, unknown>
  enabled?: boolean
}

/** `keys` of a PushSubscription are `auth_key` and `p256dh_key` here. */
export interface CreatePushSubscription {
  /** `endpoint` of the subscription. */
  endpoint: string
  /** Base64url. */
  auth_key: string
  /** Base64url. */
  p256dh_key: string
}

/** `config` is the provisioner's; docs/workspaces.md lists its fields. */
export interface CreateTemplate {
  name: string
  provisioner: ProvisionerKind
  display_name?: string
  description?: string
  icon?: string
  readme?: string
  config?: Record<string, unknown>
  parameters?: Parameter[]
  agents_allowed?: boolean
  allows_user_autostop?: boolean
  default_ttl_ms?: number
  activity_bump_ms?: number
  max_lifetime_ms?: number
  deprecated?: string
}

export interface CreateToken {
  name: string
  scopes?: ("*:*" | "*:create" | "*:delete" | "*:read" | "*:run" | "*:update" | "*:update_personal" | "audit:*" | "audit:create" | "audit:delete" | "audit:read" | "audit:run" | "audit:update" | "audit:update_personal" | "chat:*" | "chat:create" | "chat:delete" | "chat:read" | "chat:run" | "chat:update" | "chat:update_personal" | "file:*" | "file:create" | "file:delete" | "file:read" | "file:run" | "file:update" | "file:update_personal" | "git_provider:*" | "git_provider:create" | "git_provider:delete" | "git_provider:read" | "git_provider:run" | "git_provider:update" | "git_provider:update_personal" | "group:*" | "group:create" | "group:delete" | "group:read" | "group:run" | "group:update" | "group:update_personal" | "model:*" | "model:create" | "model:delete" | "model:read" | "model:run" | "model:update" | "model:update_personal" | "organization:*" | "organization:create" | "organization:delete" | "organization:read" | "organization:run" | "organization:update" | "organization:update_personal" | "provider:*" | "provider:create" | "provider:delete" | "provider:read" | "provider:run" | "provider:update" | "provider:update_personal" | "push_subscription:*" | "push_subscription:create" | "push_subscription:delete" | "push_subscription:read" | "push_subscription:run" | "push_subscription:update" | "push_subscription:update_personal" | "setting:*" | "setting:create" | "setting:delete" | "setting:read" | "setting:run" | "setting:update" | "setting:update_personal" | "template:*" | "template:create" | "template:delete" | "template:read" | "template:run" | "template:update" | "template:update_personal" | "token:*" | "token:create" | "token:delete" | "token:read" | "token:run" | "token:update" | "token:update_personal" | "usage_limit:*" | "usage_limit:create" | "usage_limit:delete" | "usage_limit:read" | "usage_limit:run" | "usage_limit:update" | "usage_limit:update_personal" | "user:*" | "user:create" | "user:delete" | "user:read" | "user:run" | "user:update" | "user:update_personal" | "workspace:*" | "workspace:create" | "workspace:delete" | "workspace:read" | "workspace:run" | "workspace:update" | "workspace:update_personal")[]
  lifetime_hours?: number
}

export interface CreateUser {
  email: string
  username: string
  password: string
  display_name?: string
  role?: Role
}

/** Without a name it is given one. `parameters` are values by the names of the template's. */
export interface CreateWorkspace {
  template_id: string
  name?: string | null
  parameters?: Record<string, string>
  ttl_ms?: number | null
}

export interface CreatedToken {
  key: string
  token: Token
}

export interface DayCost {
  day: string
  total_cost_micros: number
  request_count: number
  unpriced_request_count: number
  by_model: ModelCost[]
}

export interface DeletePushSubscription {
  /** `endpoint` of the subscription. */
  endpoint: string
}

/** Whether agents may use a virtual desktop. */
export interface DesktopEnabled {
  enable_desktop: boolean
}

/** What is left out is that of the message that is replaced. */
export interface EditMessage {
  content: InputPart[]
  model_config_id?: string | null
  reasoning_effort?: ReasoningEffort | null
}

export interface EditedMessage {
  message: ChatMessage
  messages?: ChatMessage[] | null
  deleted_message_ids?: number[] | null
}

export interface EffortRange {
  default: ReasoningEffort
  max: ReasoningEffort
}

export interface Entry {
  name: string
  kind: EntryKind
  size: number
  modified_at_unix: number
  is_link: boolean
}

/** `link` is one that leads nowhere; `other` are devices, pipes and sockets. */
export type EntryKind = "file" | "directory" | "link" | "other"

export interface FileDownload {
  url: string
  expires_at: string
  sha256: string
  size_bytes: number
  name: string
  mime_type: string
}

export interface FirstUserState {
  exists: boolean
}

/** `message_id` is the last message of the copy, left out for all there is; results of its tools come with it. Without a `title` it is that of the source, marked as a fork. */
export interface ForkChat {
  message_id?: number | null
  title?: string | null
}

export interface FoundMessage {
  id: number
  role: roles_Role
  places: number
}

export interface FoundMessages {
  messages: FoundMessage[]
  has_more: boolean
}

export interface GitProvider {
  id: string
  kind: HostKind
  host: string
  api_url: string
  has_token: boolean
  created_at: string
  updated_at: string
}

export interface GitProviderTest {
  ok: boolean
  message: string
  account?: string | null
}

export interface Group {
  id: string
  name: string
  display_name: string
  created_at: string
}

export interface GroupMember {
  id: string
  username: string
  display_name: string
}

export interface GroupMemberPage {
  members: GroupMember[]
  next_after: string | null
}

export interface GroupPage {
  groups: Group[]
  next_after: string | null
}

export interface Health {
  version: string
  workspace_id: string
  pid: number
  started_at_unix: number
  uptime_seconds: number
  requests: number
  open_requests: number
  running_processes: number
  known_processes: number
  is_stopping?: boolean
}

export type HostKind = "github" | "gitlab"

export interface InputPart {
  type: "text" | "file" | "file-reference"
  text?: string
  file_id?: string | null
  file_name?: string
  start_line?: number
  end_line?: number
  content?: string
}

export interface KnownModel {
  model: string
  display_name: string
  context_limit: number
  max_output_tokens: number | null
  efforts: ReasoningEffort[]
  default_effort: ReasoningEffort | null
  images: boolean
  pdfs: boolean
  text_files: boolean
  tools: boolean
  prices: ModelPrices
  long_prompt_prices: LongPromptPrices | null
  suggested: boolean
}

export interface LatestBuild {
  id: string
  number: number
  transition: BuildTransition
  status: BuildStatus
  created_at: string
  finished_at?: string | null
  error?: string
  error_code?: string
}

export interface ListeningPort {
  port: number
  address: string
  pid: number
  command: string
}

export interface Listing {
  path: string
  entries: Entry[]
  total: number
  is_complete: boolean
  next: number | null
}

export interface LoggedIn {
  session_token: string
  expires_at: string
  user: User
}

/** `login` is an email address or a username; `email` is its older name. */
export interface Login {
  password: string
  login?: string
  email?: string
}

export interface LongPromptPrices {
  above: number
  input?: string | null
  output?: string | null
  cache_read?: string | null
  cache_write?: string | null
}

/** Everything up to this message has been seen; without one, everything there is. */
export interface MarkRead {
  message_id?: number | null
}

export interface ModelCallConfig {
  max_output_tokens?: number | null
  temperature?: number | null
  top_p?: number | null
  top_k?: number | null
  presence_penalty?: number | null
  frequency_penalty?: number | null
  reasoning_effort?: EffortRange | null
  first_event_seconds?: number | null
  silence_seconds?: number | null
  capabilities?: ClosedCapabilities | null
  provider_options?: Record<string, Record<string, unknown>> | null
}

export interface ModelConfig {
  id: string
  ai_provider_id: string
  provider_type: ProviderKind
  provider_name: string
  model: string
  display_name: string
  enabled: boolean
  is_default: boolean
  context_limit: number
  compression_threshold: number
  model_config: ModelCallConfig | null
  reasoning_efforts: ReasoningEffort[]
  prices: ModelPrices
  long_prompt_prices: LongPromptPrices | null
  price_source: "config" | "catalogue" | "unknown"
  created_at: string
  updated_at: string
}

/** Where another model than the chat's may be set. */
export type ModelContext = "general" | "explore" | "title_generation" | "compaction"

export interface ModelCost {
  model_config_id: string | null
  model: string
  display_name: string
  total_cost_micros: number
  request_count: number
  unpriced_request_count: number
}

export interface ModelOverride {
  context: ModelContext
  model_config_id: string | null
  reasoning_effort: ReasoningEffort | null
  is_malformed: boolean
}

export interface ModelPrices {
  input?: string | null
  output?: string | null
  cache_read?: string | null
  cache_write?: string | null
}

export interface Option {
  value: string
  name?: string
  description?: string
}

export interface Organization {
  id: string
  name: string
  display_name: string
  is_default: boolean
  created_at: string
}

export interface Parameter {
  name: string
  type?: ParameterType
  display_name?: string
  description?: string
  default?: string | null
  mutable?: boolean
  ephemeral?: boolean
  options?: (Option | unknown)[]
  regex?: string
  regex_error?: string
  min?: number | null
  max?: number | null
}

export type ParameterType = "string" | "number" | "bool" | "list"

/** In UTC. A week begins on Monday. */
export type Period = "day" | "week" | "month"

export interface PlanModeInstructions {
  plan_mode_instructions: string
}

export interface Ports {
  ports: ListeningPort[]
}

export interface Problem {
  message: string
  detail?: string | null
  validations?: Validation[]
  kind?: string | null
}

export interface PromotedMessage {
  message?: ChatMessage | null
}

export interface ProposedTitle {
  title: string
}

export interface Provider {
  id: string
  type: ProviderKind
  name: string
  display_name: string
  base_url: string
  options: Record<string, unknown>
  enabled: boolean
  has_api_key: boolean
  created_at: string
  updated_at: string
}

/** Named as in the database and on the wire. */
export type ProviderKind = "anthropic" | "openai" | "azure" | "bedrock" | "google" | "vertex" | "openai-compat" | "openrouter" | "vercel"

export interface ProviderTest {
  ok: boolean
  model: string
  message: string
  first_event_ms?: number | null
  kind?: string | null
  detail?: string | null
  status_code?: number | null
}

/** What makes a template's workspaces. */
export type ProvisionerKind = "local" | "docker"

/** From least to most. The database has the same names as an enum type. */
export type ReasoningEffort = "none" | "minimal" | "low" | "medium" | "high" | "xhigh" | "max"

/** What the editor made of the message; without `content` it stays as it was. */
export interface ReleaseQueued {
  content?: InputPart[] | null
  model_config_id?: string | null
  reasoning_effort?: ReasoningEffort | null
}

/** The ids of all messages that wait, first to last. */
export interface ReorderQueue {
  ids: number[]
}

export type Role = "auditor" | "member" | "owner"

export interface SaveCompactionThreshold {
  threshold_percent: number
}

export interface SaveGroup {
  name: string
  display_name?: string
}

/** Without a model the override is cleared. */
export interface SaveModelOverride {
  model_config_id?: string | null
  reasoning_effort?: ReasoningEffort | null
}

/** Whether chatd's own prompt is included stays as it is when that is left out. */
export interface SaveSystemPrompt {
  system_prompt: string
  include_default_system_prompt?: boolean
}

export interface SaveUsageLimit {
  period: Period
  limit_micros: number | null
  user_id?: string | null
  group_id?: string | null
}

/** To a chat that is busy: it waits in the queue, or interrupts. `plan_mode` is the chat's from now on. */
export interface SendMessage {
  content: InputPart[]
  model_config_id?: string | null
  reasoning_effort?: ReasoningEffort | null
  busy_behavior?: "interrupt" | "queue"
  plan_mode?: "" | "plan" | null
  mcp_server_ids?: string[] | null
}

export interface SentMessage {
  queued: boolean
  message?: ChatMessage | null
  messages?: ChatMessage[] | null
  queued_message?: ChatQueuedMessage | null
}

/** The stored half of the state. */
export type Status = "waiting" | "running" | "error" | "requires_action" | "interrupting"

/** One result for each call that waits for the client. */
export interface SubmitToolResults {
  results: ToolResult[]
}

export interface SystemPrompt {
  system_prompt: string
  include_default_system_prompt: boolean
  default_system_prompt: string
}

export interface Template {
  id: string
  organization_id: string
  name: string
  display_name: string
  description: string
  icon: string
  readme: string
  provisioner: ProvisionerKind
  parameters: TemplateParameter[]
  agents_allowed: boolean
  allows_user_autostop: boolean
  default_ttl_ms: number
  activity_bump_ms: number
  max_lifetime_ms: number
  deprecated: string
  workspace_count: number
  created_at: string
  updated_at: string
  config?: Record<string, unknown> | null
}

export interface TemplateParameter {
  name: string
  type: ParameterType
  display_name: string
  description: string
  required: boolean
  default: string | null
  mutable: boolean
  ephemeral: boolean
  options: Option[]
  regex: string
  regex_error: string
  min: number | null
  max: number | null
}

/** A provider that is not stored. `model` may be left out where the catalogue has one for the type. */
export interface TestNewProvider {
  type: ProviderKind
  base_url?: string
  api_key?: string | null
  options?: Record<string, unknown>
  model?: string | null
}

/** What is left out is as it is stored. `model`: one that is configured for the provider, unless it is named. */
export interface TestSavedProvider {
  model?: string | null
  base_url?: string
  api_key?: string | null
  options?: Record<string, unknown>
}

export interface TitledChatCost {
  chat_id: string
  total_cost_micros: number
  request_count: number
  unpriced_request_count: number
  title: string
}

export interface Token {
  id: string
  user_id: string
  kind: string
  name: string
  scopes: string[]
  created_at: string
  expires_at: string
  last_used_at: string | null
  client_ip: string
  user_agent: string
  current: boolean
}

export interface TokenPage {
  tokens: Token[]
  next_before: string | null
}

export interface ToolResult {
  tool_call_id: string
  output: unknown
  is_error?: boolean
}

/** What is left out stays. `labels` replace all there are. `pin_order`: 0 unpins, else the place among the pinned; a chat that was not pinned becomes the last. `workspace_id`: null, or only zeros, is none. */
export interface UpdateChat {
  title?: string
  archived?: boolean
  labels?: Record<string, string>
  pin_order?: number
  plan_mode?: "" | "plan"
  workspace_id?: string | null
}

/** What is left out stays, `token: null` takes the token away, and `api_url: null` means the usual place. With another host or kind and no `api_url` it is the usual place too. */
export interface UpdateGitProvider {
  kind?: HostKind
  host?: string
  token?: string | null
  api_url?: string | null
}

/** What is left out stays. `prices: null` goes back to the catalogue's. */
export interface UpdateModelConfig {
  ai_provider_id?: string
  model?: string
  display_name?: string
  enabled?: boolean
  is_default?: boolean
  context_limit?: number
  compression_threshold?: number
  model_config?: ModelCallConfig | null
  prices?: ModelPrices | null
}

/** `old_password` is needed for one's own; an owner resets others' without it. */
export interface UpdatePassword {
  password: string
  old_password?: string
}

/** What is left out stays; `api_key: null` takes the key away. Another server in `base_url` needs the key again. */
export interface UpdateProvider {
  name?: string
  display_name?: string
  base_url?: string
  api_key?: string | null
  options?: Record<string, unknown>
  enabled?: boolean
}

export interface UpdateRole {
  role: Role
}

/** What is left out stays; `config` and `parameters` are replaced as a whole. Workspaces that are there have it from their next start on. */
export interface UpdateTemplate {
  name?: string
  display_name?: string
  description?: string
  icon?: string
  readme?: string
  config?: Record<string, unknown>
  parameters?: Parameter[]
  agents_allowed?: boolean
  allows_user_autostop?: boolean
  default_ttl_ms?: number
  activity_bump_ms?: number
  max_lifetime_ms?: number
  deprecated?: string
}

/** What is left out stays. */
export interface UpdateUser {
  email?: string
  username?: string
  display_name?: string
}

/** What is left out stays. `ttl_ms`: null is the template's; one that runs has it from now on. */
export interface UpdateWorkspace {
  name?: string
  ttl_ms?: number | null
}

export interface UploadedFile {
  id: string
}

export interface UsageLimit {
  user_id: string | null
  group_id: string | null
  period: Period
  limit_micros: number | null
}

export interface UsageLimits {
  limits: UsageLimit[]
}

export interface User {
  id: string
  email: string
  username: string
  display_name: string
  role: access_Role
  status: string
  created_at: string
  updated_at: string
  last_seen_at: string | null
  organization_ids: string[]
}

export interface UserCost {
  user_id: string
  username: string
  display_name: string
  total_cost_micros: number
  request_count: number
  unpriced_request_count: number
}

export interface UserCostPage {
  start_date: string
  end_date: string
  users: UserCost[]
  next_after: string | null
}

export interface UserPage {
  users: User[]
  count: number
  next_after: string | null
}

/** What the user wants every chat of theirs to know. */
export interface UserPrompt {
  custom_prompt: string
}

export interface Validation {
  field: string
  detail: string
}

/** One change in a list of chats, and the chat as it is by then. */
export interface WatchEvent {
  kind: string
  chat: Chat
}

export interface Workspace {
  id: string
  organization_id: string
  owner_id: string
  owner_name: string
  template_id: string
  template_name: string
  name: string
  state: WorkspaceState
  parameters: Record<string, string>
  ttl_ms: number | null
  latest_build: LatestBuild
  last_used_at: string
  created_at: string
  updated_at: string
  deadline?: string | null
  max_deadline?: string | null
  host_id?: string | null
  chats?: WorkspaceChat[] | null
  agent?: WorkspaceAgent | null
}

export interface WorkspaceAgent {
  reachable: boolean
  health?: Health | null
  message?: string | null
}

export interface WorkspaceBuild {
  id: string
  workspace_id: string
  number: number
  transition: BuildTransition
  status: BuildStatus
  reason: BuildReason
  created_at: string
  initiator_id?: string | null
  started_at?: string | null
  finished_at?: string | null
  error?: string
  error_code?: string
  cancelling?: boolean
}

export interface WorkspaceBuildPage {
  builds: WorkspaceBuild[]
  next_before: number | null
}

export interface WorkspaceChat {
  id: string
  title: string
  status: Status
  updated_at: string
}

export interface WorkspacePage {
  workspaces: Workspace[]
  next_after: string | null
}

export type WorkspaceState = "starting" | "running" | "stopping" | "stopped" | "deleting" | "deleted" | "failed"

export interface WorkspaceSummary {
  id: string
  name: string
  state: WorkspaceState
  template_name: string
}

/** How long a workspace may be idle. 0: as long as it likes. */
export interface WorkspaceTtl {
  workspace_ttl_ms: number
}

export interface Written {
  path: string
  size: number
  created: boolean
}

export type access_Role = "owner" | "auditor" | "member"

/** Who a message is from. The database has the same names as an enum type. */
export type roles_Role = "system" | "user" | "assistant" | "tool"

export interface Routes {
  "GET /api/experimental/chats": { query?: { q?: string; label?: string[] | null; owner?: string; limit?: number; offset?: number; after_id?: string | null }; answer: Chat[] }
  "POST /api/experimental/chats": { body: CreateChat; answer: Chat }
  "GET /api/experimental/chats/by-workspace": { query?: { workspace_ids?: string }; answer: Record<string, string> }
  "GET /api/experimental/chats/config/advisor": { answer: Advisor }
  "PUT /api/experimental/chats/config/advisor": { body: Advisor; answer: null }
  "GET /api/experimental/chats/config/desktop-enabled": { answer: DesktopEnabled }
  "PUT /api/experimental/chats/config/desktop-enabled": { body: DesktopEnabled; answer: null }
  "GET /api/experimental/chats/config/model-override/{context}": { path: { context: ModelContext }; answer: ModelOverride }
  "PUT /api/experimental/chats/config/model-override/{context}": { path: { context: ModelContext }; body: SaveModelOverride; answer: null }
  "GET /api/experimental/chats/config/plan-mode-instructions": { answer: PlanModeInstructions }
  "PUT /api/experimental/chats/config/plan-mode-instructions": { body: PlanModeInstructions; answer: null }
  "GET /api/experimental/chats/config/system-prompt": { answer: SystemPrompt }
  "PUT /api/experimental/chats/config/system-prompt": { body: SaveSystemPrompt; answer: null }
  "GET /api/experimental/chats/config/user-compaction-thresholds": { answer: CompactionThresholds }
  "PUT /api/experimental/chats/config/user-compaction-thresholds/{model}": { path: { model: string }; body: SaveCompactionThreshold; answer: CompactionThreshold }
  "DELETE /api/experimental/chats/config/user-compaction-thresholds/{model}": { path: { model: string }; answer: null }
  "GET /api/experimental/chats/config/user-prompt": { answer: UserPrompt }
  "PUT /api/experimental/chats/config/user-prompt": { body: UserPrompt; answer: UserPrompt }
  "GET /api/experimental/chats/config/workspace-ttl": { answer: WorkspaceTtl }
  "PUT /api/experimental/chats/config/workspace-ttl": { body: WorkspaceTtl; answer: null }
  "GET /api/experimental/chats/cost/users": { query?: { start_date?: string | null; end_date?: string | null; after?: string | null; limit?: number }; answer: UserCostPage }
  "GET /api/experimental/chats/cost/{user}/summary": { path: { user: string }; query?: { start_date?: string | null; end_date?: string | null }; answer: CostSummary }
  "POST /api/experimental/chats/files": { query?: { organization?: string | null }; answer: UploadedFile }
  "GET /api/experimental/chats/files/{file}": { path: { file: string }; answer: null }
  "GET /api/experimental/chats/files/{file}/download": { path: { file: string }; query?: { token?: string }; answer: null }
  "POST /api/experimental/chats/files/{file}/download-url": { path: { file: string }; answer: FileDownload }
  "GET /api/experimental/chats/model-configs": { answer: ModelConfig[] }
  "POST /api/experimental/chats/model-configs": { body: CreateModelConfig; answer: ModelConfig }
  "GET /api/experimental/chats/model-configs/{model}": { path: { model: string }; answer: ModelConfig }
  "PATCH /api/experimental/chats/model-configs/{model}": { path: { model: string }; body: UpdateModelConfig; answer: ModelConfig }
  "DELETE /api/experimental/chats/model-configs/{model}": { path: { model: string }; answer: null }
  "GET /api/experimental/chats/providers": { answer: Provider[] }
  "POST /api/experimental/chats/providers": { body: CreateProvider; answer: Provider }
  "GET /api/experimental/chats/providers/known-models": { query?: { type?: ProviderKind | null }; answer: KnownModel[] }
  "POST /api/experimental/chats/providers/test": { body: TestNewProvider; answer: ProviderTest }
  "GET /api/experimental/chats/providers/{provider}": { path: { provider: string }; answer: Provider }
  "PATCH /api/experimental/chats/providers/{provider}": { path: { provider: string }; body: UpdateProvider; answer: Provider }
  "DELETE /api/experimental/chats/providers/{provider}": { path: { provider: string }; answer: null }
  "POST /api/experimental/chats/providers/{provider}/test": { path: { provider: string }; body?: TestSavedProvider; answer: ProviderTest }
  "GET /api/experimental/chats/usage-limits": { answer: UsageLimits }
  "PUT /api/experimental/chats/usage-limits": { body: SaveUsageLimit; answer: null }
  "DELETE /api/experimental/chats/usage-limits/{period}": { path: { period: Period }; query?: { user_id?: string | null; group_id?: string | null }; answer: null }
  "GET /api/experimental/chats/watch": { answer: null }
  "GET /api/experimental/chats/{chat}": { path: { chat: string }; answer: Chat }
  "PATCH /api/experimental/chats/{chat}": { path: { chat: string }; body: UpdateChat; answer: null }
  "POST /api/experimental/chats/{chat}/compact": { path: { chat: string }; answer: Chat }
  "PUT /api/experimental/chats/{chat}/context": { path: { chat: string }; answer: Chat }
  "GET /api/experimental/chats/{chat}/cost": { path: { chat: string }; answer: ChatCost }
  "GET /api/experimental/chats/{chat}/diff": { path: { chat: string }; answer: ChatDiff }
  "GET /api/experimental/chats/{chat}/export": { path: { chat: string }; query?: { format?: "markdown" | "json" | "html" }; answer: Record<string, unknown> }
  "POST /api/experimental/chats/{chat}/fork": { path: { chat: string }; body?: ForkChat; answer: Chat }
  "POST /api/experimental/chats/{chat}/interrupt": { path: { chat: string }; answer: Chat }
  "GET /api/experimental/chats/{chat}/messages": { path: { chat: string }; query?: { before_id?: number | null; after_id?: number | null; limit?: number }; answer: ChatMessagesPage }
  "POST /api/experimental/chats/{chat}/messages": { path: { chat: string }; body: SendMessage; answer: SentMessage }
  "GET /api/experimental/chats/{chat}/messages/search": { path: { chat: string }; query?: { q?: string; before_id?: number | null; limit?: number }; answer: FoundMessages }
  "PATCH /api/experimental/chats/{chat}/messages/{message}": { path: { chat: string; message: number }; body: EditMessage; answer: EditedMessage }
  "GET /api/experimental/chats/{chat}/prompts": { path: { chat: string }; query?: { limit?: number }; answer: ChatPrompts }
  "PUT /api/experimental/chats/{chat}/queue": { path: { chat: string }; body: ReorderQueue; answer: null }
  "DELETE /api/experimental/chats/{chat}/queue/{queued}": { path: { chat: string; queued: number }; answer: null }
  "POST /api/experimental/chats/{chat}/queue/{queued}/hold": { path: { chat: string; queued: number }; answer: ChatQueuedMessage }
  "POST /api/experimental/chats/{chat}/queue/{queued}/promote": { path: { chat: string; queued: number }; answer: PromotedMessage }
  "POST /api/experimental/chats/{chat}/queue/{queued}/release": { path: { chat: string; queued: number }; body: ReleaseQueued; answer: SentMessage }
  "PUT /api/experimental/chats/{chat}/read": { path: { chat: string }; body: MarkRead; answer: null }
  "POST /api/experimental/chats/{chat}/reconcile-invalid": { path: { chat: string }; answer: Chat }
  "GET /api/experimental/chats/{chat}/stream": { path: { chat: string }; query?: { after?: string; after_id?: number }; answer: null }
  "GET /api/experimental/chats/{chat}/stream/git": { path: { chat: string }; answer: null }
  "POST /api/experimental/chats/{chat}/title/propose": { path: { chat: string }; answer: ProposedTitle }
  "POST /api/experimental/chats/{chat}/title/regenerate": { path: { chat: string }; answer: Chat }
  "POST /api/experimental/chats/{chat}/tool-results": { path: { chat: string }; body: SubmitToolResults; answer: null }
  "GET /api/experimental/git-providers": { answer: GitProvider[] }
  "POST /api/experimental/git-providers": { body: CreateGitProvider; answer: GitProvider }
  "GET /api/experimental/git-providers/{git_provider}": { path: { git_provider: string }; answer: GitProvider }
  "PATCH /api/experimental/git-providers/{git_provider}": { path: { git_provider: string }; body: UpdateGitProvider; answer: GitProvider }
  "DELETE /api/experimental/git-providers/{git_provider}": { path: { git_provider: string }; answer: null }
  "POST /api/experimental/git-providers/{git_provider}/test": { path: { git_provider: string }; answer: GitProviderTest }
  "GET /api/experimental/templates": { answer: Template[] }
  "POST /api/experimental/templates": { body: CreateTemplate; answer: Template }
  "GET /api/experimental/templates/{template}": { path: { template: string }; answer: Template }
  "PATCH /api/experimental/templates/{template}": { path: { template: string }; body: UpdateTemplate; answer: Template }
  "DELETE /api/experimental/templates/{template}": { path: { template: string }; answer: null }
  "GET /api/experimental/workspaces": { query?: { owner?: string; after?: string | null; limit?: number }; answer: WorkspacePage }
  "POST /api/experimental/workspaces": { body: CreateWorkspace; answer: Workspace }
  "GET /api/experimental/workspaces/{workspace}": { path: { workspace: string }; query?: { agent?: boolean }; answer: Workspace }
  "PATCH /api/experimental/workspaces/{workspace}": { path: { workspace: string }; body: UpdateWorkspace; answer: Workspace }
  "DELETE /api/experimental/workspaces/{workspace}": { path: { workspace: string }; query?: { orphan?: boolean }; answer: WorkspaceBuild }
  "GET /api/experimental/workspaces/{workspace}/builds": { path: { workspace: string }; query?: { before?: number | null; limit?: number }; answer: WorkspaceBuildPage }
  "POST /api/experimental/workspaces/{workspace}/builds": { path: { workspace: string }; body: CreateBuild; answer: WorkspaceBuild }
  "GET /api/experimental/workspaces/{workspace}/builds/{build}": { path: { workspace: string; build: string }; answer: WorkspaceBuild }
  "POST /api/experimental/workspaces/{workspace}/builds/{build}/cancel": { path: { workspace: string; build: string }; answer: WorkspaceBuild }
  "GET /api/experimental/workspaces/{workspace}/builds/{build}/logs": { path: { workspace: string; build: string }; query?: { after?: number; limit?: number }; answer: BuildLogs }
  "GET /api/experimental/workspaces/{workspace}/files": { path: { workspace: string }; query?: { path?: string | null; offset?: number; limit?: number }; answer: Listing }
  "GET /api/experimental/workspaces/{workspace}/files/content": { path: { workspace: string }; query?: { path?: string; inline?: boolean }; answer: null }
  "PUT /api/experimental/workspaces/{workspace}/files/content": { path: { workspace: string }; query?: { path?: string; exclusive?: boolean }; answer: Written }
  "GET /api/experimental/workspaces/{workspace}/ports": { path: { workspace: string }; answer: Ports }
  "GET /api/experimental/workspaces/{workspace}/terminal": { path: { workspace: string }; query?: { reconnect?: string; width?: number; height?: number; command?: string }; answer: null }
  "GET /api/v2/audit": { query?: { actor?: string | null; action?: "create" | "update" | "delete" | null; target_kind?: string | null; target_id?: string | null; outcome?: "done" | "refused" | null; since?: string | null; until?: string | null; before?: number | null; limit?: number }; answer: AuditPage }
  "GET /api/v2/buildinfo": { answer: BuildInfo }
  "GET /api/v2/groups": { query?: { after?: string | null; limit?: number }; answer: GroupPage }
  "POST /api/v2/groups": { body: SaveGroup; answer: Group }
  "GET /api/v2/groups/{group}": { path: { group: string }; answer: Group }
  "PUT /api/v2/groups/{group}": { path: { group: string }; body: SaveGroup; answer: Group }
  "DELETE /api/v2/groups/{group}": { path: { group: string }; answer: null }
  "GET /api/v2/groups/{group}/members": { path: { group: string }; query?: { after?: string | null; limit?: number }; answer: GroupMemberPage }
  "POST /api/v2/groups/{group}/members": { path: { group: string }; body: AddGroupMembers; answer: null }
  "DELETE /api/v2/groups/{group}/members/{user}": { path: { group: string; user: string }; answer: null }
  "GET /api/v2/organizations": { answer: Organization[] }
  "GET /api/v2/organizations/{organization}": { path: { organization: string }; answer: Organization }
  "GET /api/v2/users": { query?: { search?: string | null; after?: string | null; limit?: number }; answer: UserPage }
  "POST /api/v2/users": { body: CreateUser; answer: User }
  "GET /api/v2/users/first": { answer: FirstUserState }
  "POST /api/v2/users/first": { body: CreateFirstUser; answer: User }
  "POST /api/v2/users/login": { body: Login; answer: LoggedIn }
  "POST /api/v2/users/logout": { answer: null }
  "GET /api/v2/users/{user}": { path: { user: string }; answer: User }
  "PATCH /api/v2/users/{user}": { path: { user: string }; body: UpdateUser; answer: User }
  "DELETE /api/v2/users/{user}": { path: { user: string }; answer: null }
  "GET /api/v2/users/{user}/organizations": { path: { user: string }; answer: Organization[] }
  "PUT /api/v2/users/{user}/password": { path: { user: string }; body: UpdatePassword; answer: null }
  "PUT /api/v2/users/{user}/role": { path: { user: string }; body: UpdateRole; answer: User }
  "GET /api/v2/users/{user}/sessions": { path: { user: string }; query?: { before?: string | null; limit?: number }; answer: TokenPage }
  "DELETE /api/v2/users/{user}/sessions": { path: { user: string }; answer: null }
  "DELETE /api/v2/users/{user}/sessions/{token}": { path: { user: string; token: string }; answer: null }
  "PUT /api/v2/users/{user}/status/activate": { path: { user: string }; answer: User }
  "PUT /api/v2/users/{user}/status/suspend": { path: { user: string }; answer: User }
  "GET /api/v2/users/{user}/tokens": { path: { user: string }; query?: { before?: string | null; limit?: number }; answer: TokenPage }
  "POST /api/v2/users/{user}/tokens": { path: { user: string }; body: CreateToken; answer: CreatedToken }
  "DELETE /api/v2/users/{user}/tokens/{token}": { path: { user: string; token: string }; answer: null }
  "POST /api/v2/users/{user}/webpush/subscription": { path: { user: string }; body: CreatePushSubscription; answer: null }
  "DELETE /api/v2/users/{user}/webpush/subscription": { path: { user: string }; body: DeletePushSubscription; answer: null }
  "POST /api/v2/users/{user}/webpush/test": { path: { user: string }; answer: null }
}
