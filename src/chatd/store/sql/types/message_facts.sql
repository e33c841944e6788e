-- What a batch of messages means for the chat; found before the chat is locked, because contents may be large.
CREATE TYPE message_facts AS (
    has_calls        boolean, -- one of them calls a tool that we run
    has_open_calls   boolean, -- the last of those has calls without a result in the batch
    model_config_id  uuid, -- the last one named
    reasoning_effort reasoning_effort
);
