-- What a batch of messages means for the chat; found before the chat is locked, because contents may be large.
CREATE TYPE message_facts AS (
    has_answer       boolean, -- one of them is the assistant's
    has_open_calls   boolean, -- the last of those calls a local tool, and no message of the batch has its result
    model_config_id  uuid, -- the last one named
    reasoning_effort reasoning_effort
);
