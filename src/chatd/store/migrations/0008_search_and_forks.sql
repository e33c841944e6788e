-- Search over what was said, and chats that begin with the history of another one.

-- How far the words of a chat are in message_words. Both are filled behind the turns, by index_messages, and nothing of a
-- turn waits for it or pays for it; what is lost with a crash is found missing here and made again. `through` is the
-- newest message that was there then: an edit hides a message and all that follow, so it tells whether there was one.
CREATE TABLE indexed_chats (
    chat_id         uuid PRIMARY KEY CONSTRAINT indexed_chats_chat_id_fkey REFERENCES chats (id) ON DELETE CASCADE,
    history_version bigint NOT NULL, -- 0: there is more to do
    through         bigint NOT NULL
) WITH (fillfactor = 80);

-- The words of messages that people see: users' and assistants' texts, of root chats.
CREATE TABLE message_words (
    chat_id    uuid NOT NULL CONSTRAINT message_words_chat_id_fkey REFERENCES indexed_chats (chat_id) ON DELETE CASCADE,
    message_id bigint NOT NULL,
    words      tsvector NOT NULL, -- and one more that says whose they are (search_words)
    CONSTRAINT message_words_pkey PRIMARY KEY (chat_id, message_id)
);
CREATE INDEX message_words_words ON message_words USING gin (words);
CREATE INDEX chats_by_title_words ON chats USING gin (to_tsvector('simple', title));

-- Where a fork comes from. No foreign keys: that stays true when the source is gone. Messages up to copied_through were
-- copied with it: they were paid for in the source.
ALTER TABLE chats
    ADD COLUMN forked_from_chat_id uuid,
    ADD COLUMN forked_from_message_id bigint,
    ADD COLUMN copied_through bigint NOT NULL DEFAULT 0;
