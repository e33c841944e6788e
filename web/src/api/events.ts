// Written by `make gen` (scripts/web_types.py) from `client/events.py` and `core/shown_parts.py`. Do not edit.

import type { ChatError, ChatMessage, ChatQueuedMessage, Status } from "./schema"

/** The chat waits for the results of the client's tools: `Client.submit_tool_results`. */
export interface ActionRequired {
  type: "action_required"
  action_required: ToldCalls
  chat_id: string
  id?: string | null
}

/** No counts: the file is binary, or too large to count. Paths are relative to the root. */
export interface ChangedFile {
  path: string
  status: FileStatus
  additions?: number | null
  deletions?: number | null
  old_path?: string | null
}

/** `files` has the first of `total_files` only, by path. Not `is_complete`: so much changed that not all was looked at, and the sums are too small. */
export interface Changes {
  files?: ChangedFile[]
  total_files?: number
  additions?: number
  deletions?: number
  is_complete?: boolean
}

export interface ContextFilePart {
  type: "context-file"
  context_file_path: string
  context_file_truncated?: boolean
  context_file_agent_id?: string | null
  context_file_content?: string
  context_file_os?: string
  context_file_directory?: string
}

/** `data` is base64. With a `file_id` it is a copy that only the server uses. */
export interface FilePart {
  type: "file"
  media_type: string
  name?: string
  data?: string
  file_id?: string | null
}

export interface FileReferencePart {
  type: "file-reference"
  file_name: string
  start_line: number
  end_line: number
  content: string
}

/** `unmerged` files are in conflict; a `type_changed` one became a link, say. */
export type FileStatus = "added" | "copied" | "deleted" | "modified" | "renamed" | "type_changed" | "unmerged" | "untracked"

/** The first has all repositories, and each that follows those that have changed. `removed` are roots. */
export interface GitEvent {
  type?: "changes"
  scanned_at: string
  repositories: LiveRepository[]
  removed: string[]
}

/** Forget all messages: those that are left follow. */
export interface HistoryReset {
  type: "history_reset"
  chat_id: string
  id?: string | null
}

/** A piece of the answer that comes. Pieces of one text or of one call's `args_delta` follow each other. Without `seq` it is what a running tool says now, whole, as `result_delta`. */
export interface LivePart {
  part: LivePiece
  role?: ToldRole
  seq?: number | null
  history_version?: number
  generation_attempt?: number
}

/** `diff` is what is not committed, as a unified diff. Not `is_diff_complete`: there is more of it. */
export interface LiveRepository {
  root: string
  branch?: string
  head?: string
  is_bare?: boolean
  operation?: string
  remotes?: Remote[]
  upstream?: string
  compared_to?: string
  ahead?: number | null
  behind?: number | null
  base_branch?: string
  changes?: Changes
  base_changes?: Changes | null
  error?: string | null
  diff?: string
  is_diff_complete?: boolean
}

export interface MessageStored {
  type: "message"
  message: ChatMessage
  chat_id: string
  id?: string | null
}

/** `args` is JSON text. */
export interface OpenCall {
  tool_call_id: string
  tool_name: string
  args?: unknown
}

export interface PartCame {
  type: "message_part"
  message_part: LivePart
  chat_id: string
  id?: string | null
}

/** Forget all live parts: they are stored by now, or the answer begins anew with that attempt. */
export interface PreviewReset {
  type: "preview_reset"
  chat_id: string
  id?: string | null
  history_version?: number
  generation_attempt?: number
}

/** All that waits. */
export interface QueueChanged {
  type: "queue_update"
  queued_messages?: ChatQueuedMessage[]
  chat_id: string
  id?: string | null
}

export interface ReasoningPart {
  type: "reasoning"
  text: string
  created_at?: string
  completed_at?: string
}

/** `url` has no password and no token in it. `host`, `owner` and `repository` are the same for SSH and HTTPS. They are empty for what is on no host. `owner` may have slashes in it (groups of GitLab). */
export interface Remote {
  name: string
  url: string
  host?: string
  owner?: string
  repository?: string
}

/** What clients see while a retry is waited for: the retry event, and the chat's `retry_state`. */
export interface RetryPayload {
  attempt: number
  delay_ms: number
  error: string
  kind: string
  provider: string
  retrying_at: string
  status_code?: number | null
}

/** That attempt failed. It is waited until another one begins. */
export interface Retrying {
  type: "retry"
  retry: RetryPayload
  chat_id: string
  id?: string | null
  history_version?: number
  generation_attempt?: number
}

export interface SkillPart {
  type: "skill"
  skill_name: string
  skill_description?: string
  skill_dir?: string
  context_file_skill_meta_file?: string
}

export interface SourcePart {
  type: "source"
  url: string
  source_id?: string
  title?: string
}

export interface StatusChanged {
  type: "status"
  status: ToldStatus
  chat_id: string
  id?: string | null
}

export interface TextPart {
  type: "text"
  text: string
}

export interface ToldCalls {
  tool_calls: OpenCall[]
}

/** Who a message is from. The database has the same names as an enum type. */
export type ToldRole = "assistant" | "system" | "tool" | "user"

export interface ToldStatus {
  status: Status
}

/** A piece of a call's arguments. The whole call follows as a ToolCallPart when they are complete. */
export interface ToolCallDelta {
  type: "tool-call"
  tool_call_id: string
  tool_name: string
  args_delta: string
  provider_executed?: boolean
  created_at?: string
}

export interface ToolCallPart {
  type: "tool-call"
  tool_call_id: string
  tool_name?: string
  mcp_server_config_id?: string | null
  args?: unknown
  parsed_commands?: string[][]
  provider_executed?: boolean
  hook_rewritten?: boolean
  created_at?: string
}

export interface ToolResultPart {
  type: "tool-result"
  tool_call_id: string
  tool_name?: string
  mcp_server_config_id?: string | null
  result?: unknown
  is_error?: boolean
  is_media?: boolean
  provider_executed?: boolean
  created_at?: string
}

export interface TurnFailed {
  type: "error"
  error: ChatError
  chat_id: string
  id?: string | null
}

/** What a running tool says now, all of it. */
export interface ToolOutput {
  type: "tool-result"
  tool_call_id: string
  result_delta: string
  result_reset: true
}

export type LivePiece = Part | ToolCallDelta | ToolOutput

/** What a message is made of. A newer server may have more. */
export type Part = TextPart | ReasoningPart | ToolCallPart | ToolResultPart | SourcePart | FilePart | FileReferencePart | ContextFilePart | SkillPart

export type StreamEvent = HistoryReset | MessageStored | QueueChanged | StatusChanged | TurnFailed | ActionRequired | Retrying | PreviewReset | PartCame
