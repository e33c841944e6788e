-- Browsers that are told when a turn ends.

-- What a browser gave: where its push service takes messages for it, and the keys that they are encrypted for. Whoever
-- knows endpoint and `auth` can send to that browser, so both are secrets, and a row is found by the endpoint's hash. An
-- endpoint belongs to who subscribed last, and ends with the session or token that subscribed: who is signed out is not
-- told what happens in their chats.
CREATE TABLE push_subscriptions (
    id            uuid PRIMARY KEY, -- a new one each time that the browser subscribes
    user_id       uuid NOT NULL CONSTRAINT push_subscriptions_user_id_fkey REFERENCES users (id) ON DELETE CASCADE,
    token_id      uuid NOT NULL CONSTRAINT push_subscriptions_token_id_fkey REFERENCES tokens (id) ON DELETE CASCADE,
    endpoint_hash bytea NOT NULL,
    endpoint      encrypted_text NOT NULL,
    p256dh        bytea NOT NULL, -- the browser's public key
    auth          encrypted_text NOT NULL,
    created_at    timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT push_subscriptions_endpoint_key UNIQUE (endpoint_hash),
    CONSTRAINT push_subscriptions_hash_is_sha256 CHECK (octet_length(endpoint_hash) = 32),
    CONSTRAINT push_subscriptions_p256dh_length CHECK (octet_length(p256dh) = 65)
);
CREATE INDEX push_subscriptions_by_user ON push_subscriptions (user_id, id);
CREATE INDEX push_subscriptions_by_token ON push_subscriptions (token_id);

INSERT INTO versions (area) VALUES ('push');
CREATE CONSTRAINT TRIGGER push_subscriptions_move_version AFTER INSERT OR UPDATE OR DELETE ON push_subscriptions
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION move_version('push');
