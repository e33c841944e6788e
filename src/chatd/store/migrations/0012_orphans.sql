-- Which kinds of workspaces a replica makes, so that a build which no live one can carry out is known from one that waits.
ALTER TABLE replicas ADD COLUMN provisioners text[]; -- NULL: of a version that does not say

-- Workspaces that were deleted while their machine was gone, for when it is back.
CREATE INDEX workspace_builds_orphans ON workspace_builds (workspace_id) WHERE error_code = 'orphan';
