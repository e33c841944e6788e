-- Messages that were sent with a key, so that one whose answer was lost can be sent again and comes only once.

-- What the first answer said: the message was inserted, or queued. What became of it later is not followed. `key` and
-- `fingerprint` are hashes (core/request_keys.py). There is nothing in it for messages without a key.
CREATE TABLE chat_sends (
    chat_id     uuid NOT NULL CONSTRAINT chat_sends_chat_id_fkey REFERENCES chat_state (chat_id) ON DELETE CASCADE,
    key         uuid NOT NULL,
    fingerprint uuid NOT NULL, -- of the message: another one with this key is a mistake
    message_id  bigint,
    queued_id   bigint,
    revision    bigint NOT NULL, -- the snapshot at which it was sent
    created_at  timestamptz NOT NULL,
    CONSTRAINT chat_sends_pkey PRIMARY KEY (chat_id, key),
    CONSTRAINT chat_sends_one_place CHECK ((message_id IS NULL) <> (queued_id IS NULL))
);
