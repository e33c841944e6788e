import type { Workspace, WorkspaceState } from "../../api/schema"
import { Button } from "../../ui/buttons/Button"
import { Table } from "../../ui/layout/Table"
import { Badge, type BadgeProps } from "../../ui/status/Badge"
import { RelativeTime } from "../../ui/values/RelativeTime"
import { words } from "../../words/with_settings"
import css from "../place.module.css"

interface WorkspaceTableProps {
  workspaces: readonly Workspace[]
  onBuild: (workspace: Workspace, transition: "start" | "stop") => void
  onDelete: (workspace: Workspace) => void
}

const kinds: Partial<Record<WorkspaceState, BadgeProps["kind"]>> = { running: "ok", failed: "error", starting: "accent" }

export function WorkspaceTable({ workspaces, onBuild, onDelete }: WorkspaceTableProps) {
  const text = words.settings.workspaces
  return (
    <Table
      caption={words.shell.workspaces}
      isCaptionHidden
      rows={workspaces}
      rowKey={(one) => one.id}
      columns={[
        {
          key: "name",
          header: text.name,
          isMain: true,
          cell: (one) => (
            <>
              {one.name}
              <span className={css["below"]}>
                {one.template_name} · {one.owner_name}
              </span>
            </>
          ),
        },
        {
          key: "state",
          header: text.state,
          cell: (one) => (
            <span>
              <Badge kind={kinds[one.state]}>{text.states[one.state]}</Badge>
              {one.latest_build.error && <span className={css["below"]}>{one.latest_build.error}</span>}
            </span>
          ),
        },
        { key: "used", header: text.used, cell: (one) => <RelativeTime at={one.last_used_at} /> },
        { key: "ends", header: text.stops, cell: (one) => (one.deadline ? <RelativeTime at={one.deadline} /> : "–") },
        {
          key: "actions",
          header: text.actions,
          isHeaderHidden: true,
          align: "end",
          cell: (one) => <Actions workspace={one} onBuild={onBuild} onDelete={onDelete} />,
        },
      ]}
    />
  )
}

function Actions({ workspace, onBuild, onDelete }: Omit<WorkspaceTableProps, "workspaces"> & { workspace: Workspace }) {
  const text = words.settings.workspaces
  const { state } = workspace
  return (
    <span className={css["end"]}>
      {(state === "stopped" || state === "failed") && (
        <Button size="small" onClick={() => onBuild(workspace, "start")}>
          {text.start}
        </Button>
      )}
      {state === "running" && (
        <Button size="small" onClick={() => onBuild(workspace, "stop")}>
          {text.stop}
        </Button>
      )}
      {(state === "stopped" || state === "failed" || state === "running") && (
        <Button size="small" kind="danger" onClick={() => onDelete(workspace)}>
          {words.settings.deleting.submit}
        </Button>
      )}
    </span>
  )
}
