import { useInfiniteQuery, useQueryClient } from "@tanstack/react-query"
import { MoreHorizontal, Plus, Search } from "lucide-react"
import { useState } from "react"
import { request } from "../../api/request"
import type { Role, User } from "../../api/schema"
import { Button } from "../../ui/buttons/Button"
import { IconButton } from "../../ui/buttons/IconButton"
import { Menu } from "../../ui/floating/Menu"
import { Select } from "../../ui/inputs/Select"
import { TextInput } from "../../ui/inputs/TextInput"
import { PageTitle } from "../../ui/layout/Page"
import { Table } from "../../ui/layout/Table"
import { Badge } from "../../ui/status/Badge"
import { ErrorState } from "../../ui/status/EmptyState"
import { SkeletonLines } from "../../ui/status/Skeleton"
import { RelativeTime } from "../../ui/values/RelativeTime"
import { words } from "../../words/with_settings"
import { attempted } from "../attempted"
import { DeleteByName } from "../form/DeleteByName"
import type { PlaceProps } from "../pages"
import css from "../place.module.css"
import { PasswordDialog, UserDialog } from "./UserDialogs"

const key = ["settings", "users"]
const roles: readonly Role[] = ["owner", "auditor", "member"]

export function Users({ me }: PlaceProps) {
  const [search, setSearch] = useState("")
  const [asked, ask] = useState<{ what: "add" } | { what: "delete" | "password"; user: User } | null>(null)
  const client = useQueryClient()
  const text = words.settings.users
  const pages = useInfiniteQuery({
    queryKey: [...key, search],
    queryFn: ({ pageParam, signal }) =>
      request("GET /api/v2/users", { query: { ...(search && { search }), ...(pageParam !== null && { after: pageParam }) }, signal }),
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.next_after,
    placeholderData: (before) => before,
  })
  const users = pages.data?.pages.flatMap((page) => page.users)
  const changed = () => client.invalidateQueries({ queryKey: key })
  const change = async (act: () => Promise<unknown>) => {
    await attempted(text.changing, act)
    await changed()
  }
  return (
    <>
      <PageTitle
        title={words.settings.pages.users}
        text={text.text}
        actions={
          <Button kind="primary" icon={Plus} onClick={() => ask({ what: "add" })}>
            {text.add}
          </Button>
        }
      />
      <TextInput type="search" icon={Search} aria-label={text.search} placeholder={text.search} value={search} onChange={setSearch} />
      {users ? (
        <Table
          caption={words.settings.pages.users}
          isCaptionHidden
          rows={users}
          rowKey={(one) => one.id}
          empty={text.none}
          columns={[
            {
              key: "name",
              header: text.name,
              isMain: true,
              cell: (one) => (
                <>
                  {one.display_name || one.username} {one.status === "suspended" && <Badge kind="warn">{text.suspended}</Badge>}
                  <span className={css["below"]}>{one.email}</span>
                </>
              ),
            },
            { key: "seen", header: text.seen, cell: (one) => (one.last_seen_at ? <RelativeTime at={one.last_seen_at} /> : text.never) },
            {
              key: "role",
              header: text.role,
              cell: (one) => (
                <Select
                  kind="quiet"
                  aria-label={text.roleOf(one.username)}
                  choices={roles.map((value) => ({ value, label: text.roles[value], hint: text.roleHints[value] }))}
                  value={one.role}
                  onChange={(role) => void change(() => request("PUT /api/v2/users/{user}/role", { path: { user: one.id }, body: { role } }))}
                />
              ),
            },
            {
              key: "more",
              header: words.common.more,
              isHeaderHidden: true,
              align: "end",
              cell: (one) =>
                one.id === me.id ? null : (
                  <Menu
                    align="end"
                    entries={[
                      one.status === "suspended"
                        ? { label: text.activate, run: () => void change(() => request("PUT /api/v2/users/{user}/status/activate", { path: { user: one.id } })) }
                        : { label: text.suspend, run: () => void change(() => request("PUT /api/v2/users/{user}/status/suspend", { path: { user: one.id } })) },
                      { label: text.setPassword, run: () => ask({ what: "password", user: one }) },
                      "line",
                      { label: words.settings.deleting.submit, isDanger: true, run: () => ask({ what: "delete", user: one }) },
                    ]}
                  >
                    <IconButton name={text.more(one.username)} icon={MoreHorizontal} size="small" />
                  </Menu>
                ),
            },
          ]}
        />
      ) : pages.isError ? (
        <ErrorState title={words.settings.notLoaded} text={pages.error.message} onRetry={() => void pages.refetch()} />
      ) : (
        <SkeletonLines count={5} height="24px" />
      )}
      {pages.hasNextPage && (
        <div>
          <Button onClick={() => void pages.fetchNextPage()} isBusy={pages.isFetchingNextPage}>
            {words.common.more}
          </Button>
        </div>
      )}
      {asked?.what === "add" && <UserDialog onClose={() => ask(null)} onMade={() => void changed()} />}
      {asked?.what === "password" && <PasswordDialog user={asked.user} onClose={() => ask(null)} />}
      {asked?.what === "delete" && (
        <DeleteByName
          name={asked.user.username}
          text={text.deleteText}
          onClose={() => ask(null)}
          onDelete={async () => {
            await request("DELETE /api/v2/users/{user}", { path: { user: asked.user.id } })
            await changed()
          }}
        />
      )}
    </>
  )
}
