import { useInfiniteQuery, useQueryClient } from "@tanstack/react-query"
import { Boxes } from "lucide-react"
import { type ReactNode, useState } from "react"
import { request } from "../../api/request"
import type { User, Workspace } from "../../api/schema"
import { Button } from "../../ui/buttons/Button"
import { Segmented } from "../../ui/inputs/Segmented"
import { PageTitle } from "../../ui/layout/Page"
import { EmptyState, ErrorState } from "../../ui/status/EmptyState"
import { SkeletonLines } from "../../ui/status/Skeleton"
import { words } from "../../words/with_settings"
import { attempted } from "../attempted"
import { DeleteByName } from "../form/DeleteByName"
import css from "../place.module.css"
import { WorkspaceTable } from "./WorkspaceTable"

const key = ["settings", "workspaces"]
const AGAIN = 3000
const moving = new Set(["starting", "stopping", "deleting"])

/** One's own workspaces, and for admins everyone's. Read again while one of them is on its way. */
export function Workspaces({ me, opener }: { me: User; opener: ReactNode }) {
  const [owner, setOwner] = useState<"me" | "all">("me")
  const [deleting, setDeleting] = useState<Workspace | null>(null)
  const client = useQueryClient()
  const text = words.settings.workspaces
  const pages = useInfiniteQuery({
    queryKey: [...key, owner],
    queryFn: ({ pageParam, signal }) =>
      request("GET /api/experimental/workspaces", { query: { owner, ...(pageParam !== null && { after: pageParam }) }, signal }),
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.next_after,
    refetchInterval: ({ state }) => (state.data?.pages.some((page) => page.workspaces.some((one) => moving.has(one.state))) ? AGAIN : false),
  })
  const workspaces = pages.data?.pages.flatMap((page) => page.workspaces)
  async function build(workspace: Workspace, transition: "start" | "stop") {
    await attempted(text.doing[transition], () =>
      request("POST /api/experimental/workspaces/{workspace}/builds", { path: { workspace: workspace.id }, body: { transition } }),
    )
    await client.invalidateQueries({ queryKey: key })
  }
  return (
    <div className={css["page"]}>
      <header className={css["bar"]}>
        {opener}
        {words.shell.workspaces}
      </header>
      <main className={css["contents"]}>
        <div className={css["column"]}>
          <PageTitle
            title={words.shell.workspaces}
            text={text.text}
            actions={
              me.role !== "member" && (
                <Segmented
                  label={text.whose}
                  value={owner}
                  onChange={setOwner}
                  segments={[
                    { value: "me", label: text.mine },
                    { value: "all", label: text.all },
                  ]}
                />
              )
            }
          />
          {workspaces ? (
            workspaces.length === 0 ? (
              <EmptyState icon={Boxes} title={text.none} text={text.noneText} />
            ) : (
              <WorkspaceTable workspaces={workspaces} onBuild={(one, next) => void build(one, next)} onDelete={setDeleting} />
            )
          ) : pages.isError ? (
            <ErrorState title={words.settings.notLoaded} text={pages.error.message} onRetry={() => void pages.refetch()} />
          ) : (
            <SkeletonLines count={5} height="24px" />
          )}
          {pages.hasNextPage && (
            <Button onClick={() => void pages.fetchNextPage()} isBusy={pages.isFetchingNextPage}>
              {words.common.more}
            </Button>
          )}
        </div>
      </main>
      {deleting && (
        <DeleteByName
          name={deleting.name}
          text={text.deleteText}
          onClose={() => setDeleting(null)}
          onDelete={async () => {
            await request("DELETE /api/experimental/workspaces/{workspace}", { path: { workspace: deleting.id } })
            await client.invalidateQueries({ queryKey: key })
          }}
        />
      )}
    </div>
  )
}
