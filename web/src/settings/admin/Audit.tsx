import { useInfiniteQuery } from "@tanstack/react-query"
import { ScrollText } from "lucide-react"
import { useState } from "react"
import { request } from "../../api/request"
import type { AuditEntry } from "../../api/schema"
import { Button } from "../../ui/buttons/Button"
import { Select } from "../../ui/inputs/Select"
import { PageTitle } from "../../ui/layout/Page"
import { Table } from "../../ui/layout/Table"
import { Badge } from "../../ui/status/Badge"
import { EmptyState, ErrorState } from "../../ui/status/EmptyState"
import { SkeletonLines } from "../../ui/status/Skeleton"
import { RelativeTime } from "../../ui/values/RelativeTime"
import { words } from "../../words/with_settings"
import css from "../place.module.css"

const actions = ["all", "create", "update", "delete"] as const
type Action = (typeof actions)[number]

export function Audit() {
  const [action, setAction] = useState<Action>("all")
  const text = words.settings.audit
  const pages = useInfiniteQuery({
    queryKey: ["settings", "audit", action],
    queryFn: ({ pageParam, signal }) =>
      request("GET /api/v2/audit", {
        query: { limit: 50, ...(action !== "all" && { action }), ...(pageParam !== null && { before: pageParam }) },
        signal,
      }),
    initialPageParam: null as number | null,
    getNextPageParam: (page) => page.next_before ?? null,
  })
  const entries = pages.data?.pages.flatMap((page) => page.entries)
  return (
    <>
      <PageTitle
        title={words.settings.pages.audit}
        text={text.text}
        actions={
          <Select aria-label={text.action} choices={actions.map((value) => ({ value, label: text.actions[value] }))} value={action} onChange={setAction} />
        }
      />
      {entries ? (
        entries.length === 0 ? (
          <EmptyState icon={ScrollText} title={text.none} text={text.noneText} />
        ) : (
          <Entries entries={entries} />
        )
      ) : pages.isError ? (
        <ErrorState title={words.settings.notLoaded} text={pages.error.message} onRetry={() => void pages.refetch()} />
      ) : (
        <SkeletonLines count={8} height="24px" />
      )}
      {pages.hasNextPage && (
        <div>
          <Button onClick={() => void pages.fetchNextPage()} isBusy={pages.isFetchingNextPage}>
            {text.older}
          </Button>
        </div>
      )}
    </>
  )
}

function Entries({ entries }: { entries: readonly AuditEntry[] }) {
  const text = words.settings.audit
  return (
    <Table
      caption={words.settings.pages.audit}
      isCaptionHidden
      rows={entries}
      rowKey={(one) => String(one.id)}
      columns={[
        { key: "what", header: text.what, isMain: true, cell: (one) => <What entry={one} /> },
        {
          key: "who",
          header: text.who,
          cell: (one) => (
            <span className={css["whole"]}>
              {one.actor.name || one.actor.kind}
              <span className={css["below"]}>{one.client_address}</span>
            </span>
          ),
        },
        { key: "fields", header: text.fields, cell: (one) => Object.keys(one.changes).join(", ") || "–" },
        { key: "when", header: text.when, align: "end", cell: (one) => <RelativeTime at={one.at} className={css["whole"]} /> },
      ]}
    />
  )
}

function What({ entry }: { entry: AuditEntry }) {
  const text = words.settings.audit
  return (
    <span className={css["whole"]}>
      {text.did(entry.action, entry.target.kind.replaceAll("_", " "))} {entry.outcome === "refused" && <Badge kind="error">{text.refused}</Badge>}
      <span className={css["below"]}>{entry.target.name || entry.target.id}</span>
    </span>
  )
}
