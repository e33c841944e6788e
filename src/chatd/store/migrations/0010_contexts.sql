-- What workspaces tell models is any text: a NUL in it, which jsonb refuses, must not keep it from being stored.
ALTER TABLE chat_contexts ALTER COLUMN snapshot TYPE text USING snapshot::text;

-- Whether there are templates is part of what turns are told of the deployment, which replicas keep until it changes.
CREATE CONSTRAINT TRIGGER templates_move_version AFTER INSERT OR UPDATE OR DELETE ON templates
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION move_version('settings');
