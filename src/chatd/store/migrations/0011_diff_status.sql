-- Of which repository a status tells, what pull requests count themselves, and hosts that want no requests for a while.
ALTER TABLE chat_diff_statuses
    ALTER COLUMN ahead DROP NOT NULL, ALTER COLUMN ahead DROP DEFAULT, -- NULL: there is nothing to compare with
    ALTER COLUMN behind DROP NOT NULL, ALTER COLUMN behind DROP DEFAULT,
    ADD COLUMN git_root               text NOT NULL DEFAULT '', -- its folder in the workspace
    ADD COLUMN git_head               text NOT NULL DEFAULT '',
    ADD COLUMN git_upstream           text NOT NULL DEFAULT '',
    ADD COLUMN git_host               text NOT NULL DEFAULT '', -- of the remote, the same for SSH and HTTPS
    ADD COLUMN git_path               text NOT NULL DEFAULT '', -- of the repository there: owner/name
    ADD COLUMN pull_request_additions integer,
    ADD COLUMN pull_request_deletions integer,
    ADD COLUMN pull_request_files     integer;

-- By host: what is on a host that nobody can ask, or that wants to be left alone, is never looked at.
DROP INDEX chat_diff_statuses_stale;
CREATE INDEX chat_diff_statuses_stale ON chat_diff_statuses (git_host, stale_at)
    WHERE git_host <> '' AND git_branch <> '';

CREATE TABLE git_host_pauses (
    host  text PRIMARY KEY,
    until timestamptz NOT NULL -- no replica asks it before
);
