-- Every change of a chat (sql/transitions). No row: there is no such chat, or not for this owner.

-- name: create_chat :opt
-- A new chat that runs at once.
-- @optional parent_id
-- @optional workspace_id
-- @optional mode
-- @optional reasoning_effort
-- @optional taker
-- @optional taker_runner
-- @optional root_capacity
-- @optional child_capacity
SELECT change.* FROM create_chat(
    @chat_id::uuid, @organization_id::uuid, @owner_id::uuid, @parent_id::uuid, @title::text, @labels::jsonb,
    @mode::chat_mode, @plan_mode::boolean, @client::chat_client, @mcp_server_ids::uuid[], @dynamic_tools::jsonb,
    @model_config_id::uuid, @reasoning_effort::reasoning_effort, @rows::message_row[], @file_ids::uuid[],
    @most_files::integer, @workspace_id::uuid, @taker::uuid, @taker_runner::uuid, @root_capacity::integer,
    @child_capacity::integer
) AS change WHERE change.outcome <> 'not_found';

-- name: fork_chat :opt
-- A new chat at rest with the history of another one, up to a message. `only_owner` is whose the other one must be.
-- @optional only_owner
-- @optional at_message
-- @optional title
SELECT change.* FROM fork_chat(
    @chat_id::uuid, @owner_id::uuid, @source_id::uuid, @only_owner::uuid, @at_message::bigint, @title::text
) AS change WHERE change.outcome <> 'not_found';

-- name: send_message :opt
-- A user's message, to an idle chat or into the queue of a busy one.
-- @optional only_owner
-- @optional send_key
-- @optional fingerprint
-- @optional planning
-- @optional taker
-- @optional taker_runner
-- @optional root_capacity
-- @optional child_capacity
SELECT change.* FROM send_message(
    @chat_id::uuid, @only_owner::uuid, @message::message_row, @interrupts::boolean, @file_ids::uuid[],
    @most_queued::integer, @most_files::integer, @send_key::uuid, @fingerprint::uuid, @planning::boolean, @taker::uuid,
    @taker_runner::uuid, @root_capacity::integer, @child_capacity::integer
) AS change WHERE change.outcome <> 'not_found';

-- name: edit_message :opt
-- Replaces a user's message and everything after it.
-- @optional only_owner
-- @optional taker
-- @optional taker_runner
-- @optional root_capacity
-- @optional child_capacity
SELECT change.* FROM edit_message(
    @chat_id::uuid, @only_owner::uuid, @edited_id::bigint, @message::message_row, @file_ids::uuid[],
    @most_files::integer, @taker::uuid, @taker_runner::uuid, @root_capacity::integer, @child_capacity::integer
) AS change WHERE change.outcome <> 'not_found';

-- name: interrupt :opt
-- The user stops the chat.
-- @optional only_owner
SELECT change.* FROM interrupt(@chat_id::uuid, @only_owner::uuid) AS change WHERE change.outcome <> 'not_found';

-- name: request_compaction :opt
-- The user asks for the context to be summarised.
-- @optional only_owner
-- @optional taker
-- @optional taker_runner
-- @optional root_capacity
-- @optional child_capacity
SELECT change.* FROM request_compaction(
    @chat_id::uuid, @only_owner::uuid, @taker::uuid, @taker_runner::uuid, @root_capacity::integer, @child_capacity::integer
) AS change WHERE change.outcome <> 'not_found';

-- name: complete_requires_action :opt
-- The client posts the results of the calls it has to answer.
-- @optional only_owner
SELECT change.* FROM complete_requires_action(@chat_id::uuid, @only_owner::uuid, @rows::message_row[]) AS change WHERE change.outcome <> 'not_found';

-- name: archive :many
-- The root's change, then those of its children; a refusal comes alone.
-- @optional only_owner
SELECT change.* FROM archive(@chat_id::uuid, @only_owner::uuid) AS change WHERE change.outcome <> 'not_found';

-- name: unarchive :many
-- The root's change, then those of its children; a refusal comes alone.
-- @optional only_owner
SELECT change.* FROM unarchive(@chat_id::uuid, @only_owner::uuid) AS change WHERE change.outcome <> 'not_found';

-- name: reconcile_invalid :opt
-- The way out of a state that no transition leads to.
-- @optional only_owner
SELECT change.* FROM reconcile_invalid(@chat_id::uuid, @only_owner::uuid, @error::jsonb) AS change WHERE change.outcome <> 'not_found';

-- name: bind_workspace :opt
-- The chat works in another workspace from now on, or in none.
-- @optional only_owner
-- @optional runner_id
-- @optional workspace_id
SELECT change.* FROM bind_workspace(@chat_id::uuid, @only_owner::uuid, @runner_id::uuid, @workspace_id::uuid) AS change
WHERE change.outcome <> 'not_found';

-- name: delete_queued :opt
-- @optional only_owner
SELECT change.* FROM delete_queued(@chat_id::uuid, @only_owner::uuid, @queued_id::bigint) AS change WHERE change.outcome <> 'not_found';

-- name: promote_queued :opt
-- "Send now."
-- @optional only_owner
-- @optional taker
-- @optional taker_runner
-- @optional root_capacity
-- @optional child_capacity
SELECT change.* FROM promote_queued(
    @chat_id::uuid, @only_owner::uuid, @queued_id::bigint, @taker::uuid, @taker_runner::uuid, @root_capacity::integer, @child_capacity::integer
) AS change WHERE change.outcome <> 'not_found';

-- name: reorder_queued :opt
-- All ids of the queue, first to last.
-- @optional only_owner
SELECT change.* FROM reorder_queued(@chat_id::uuid, @only_owner::uuid, @queued_ids::bigint[]) AS change WHERE change.outcome <> 'not_found';

-- name: hold_queued :opt
-- Someone edits a message that waits.
-- @optional only_owner
SELECT change.* FROM hold_queued(@chat_id::uuid, @only_owner::uuid, @queued_id::bigint, @holder::uuid, @hold_for::interval) AS change WHERE change.outcome <> 'not_found';

-- name: release_queued :opt
-- The end of a hold, with what its editor made of the message.
-- @optional only_owner
-- @optional message
-- @optional taker
-- @optional taker_runner
-- @optional root_capacity
-- @optional child_capacity
SELECT change.* FROM release_queued(
    @chat_id::uuid, @only_owner::uuid, @queued_id::bigint, @holder::uuid, @message::message_row, @file_ids::uuid[],
    @most_files::integer, @taker::uuid, @taker_runner::uuid, @root_capacity::integer, @child_capacity::integer
) AS change WHERE change.outcome <> 'not_found';

-- name: release_overdue :many
-- Ends the holds whose time is up.
SELECT * FROM release_overdue(@most_chats::integer);

-- name: acquire :many
-- A replica takes chats that nobody runs.
-- @optional root_capacity
-- @optional child_capacity
SELECT * FROM acquire(
    @taker::uuid, @runner_ids::uuid[], @root_capacity::integer, @child_capacity::integer, @most_takeovers::integer,
    @error::jsonb
);

-- name: abandon :opt
-- The owner lets go.
SELECT change.* FROM abandon(@chat_id::uuid, @runner_id::uuid) AS change WHERE change.outcome <> 'not_found';

-- name: hand_over :many
-- A replica that stops lets go of all that nobody else has locked right now.
SELECT * FROM hand_over(@replica_id::uuid, @most_chats::integer);

-- name: give_up :opt
-- A chat whose runners die with it is parked.
SELECT change.* FROM give_up(@chat_id::uuid, @error::jsonb) AS change WHERE change.outcome <> 'not_found';

-- name: record_attempt :opt
SELECT change.* FROM record_attempt(@chat_id::uuid, @runner_id::uuid, @history_version::bigint) AS change WHERE change.outcome <> 'not_found';

-- name: record_retry :opt
SELECT change.* FROM record_retry(@chat_id::uuid, @runner_id::uuid, @history_version::bigint, @retry::jsonb) AS change WHERE change.outcome <> 'not_found';

-- name: save_draft :opt
-- The answer of a step, before its tools run.
SELECT change.* FROM save_draft(@chat_id::uuid, @runner_id::uuid, @history_version::bigint, @draft::message_row) AS change WHERE change.outcome <> 'not_found';

-- name: commit_step :opt
-- A step's messages; with `finish` the turn is over.
SELECT change.* FROM commit_step(
    @chat_id::uuid, @runner_id::uuid, @history_version::bigint, @rows::message_row[], @finish::boolean,
    @compacted::boolean
) AS change WHERE change.outcome <> 'not_found';

-- name: enter_requires_action :opt
-- The chat waits for its client.
SELECT change.* FROM enter_requires_action(@chat_id::uuid, @runner_id::uuid, @history_version::bigint, @wait_for::interval) AS change WHERE change.outcome <> 'not_found';

-- name: cancel_requires_action :opt
-- The client did not answer in time.
SELECT change.* FROM cancel_requires_action(@chat_id::uuid, @runner_id::uuid, @history_version::bigint, @reason::text) AS change WHERE change.outcome <> 'not_found';

-- name: finish_turn :opt
SELECT change.* FROM finish_turn(@chat_id::uuid, @runner_id::uuid, @history_version::bigint) AS change WHERE change.outcome <> 'not_found';

-- name: finish_interruption :opt
-- Stores what had been written when the user stopped the chat.
SELECT change.* FROM finish_interruption(
    @chat_id::uuid, @runner_id::uuid, @history_version::bigint, @rows::message_row[]
) AS change WHERE change.outcome <> 'not_found';

-- name: finish_error :opt
-- The turn ends on an error. Without a runner: of a chat that nobody runs.
-- @optional runner_id
-- @optional history_version
SELECT change.* FROM finish_error(
    @chat_id::uuid, @runner_id::uuid, @history_version::bigint, @rows::message_row[], @error::jsonb
) AS change WHERE change.outcome <> 'not_found';
