import { useQuery, useQueryClient } from "@tanstack/react-query"
import { Gauge, Plus } from "lucide-react"
import { useState } from "react"
import { request } from "../../api/request"
import type { Group, UsageLimit, User } from "../../api/schema"
import { Button } from "../../ui/buttons/Button"
import { PageTitle } from "../../ui/layout/Page"
import { Table } from "../../ui/layout/Table"
import { EmptyState } from "../../ui/status/EmptyState"
import { moneyText } from "../../ui/values/spans"
import { words } from "../../words/with_settings"
import { attempted } from "../attempted"
import { Loaded } from "../Loaded"
import { questions } from "../questions"
import { LimitDialog } from "./LimitDialog"

export function Limits() {
  const limits = useQuery(questions.limits)
  const users = useQuery(questions.someUsers)
  const groups = useQuery(questions.groups)
  const [isAdding, setAdding] = useState(false)
  const client = useQueryClient()
  const text = words.settings.limits
  const changed = () => client.invalidateQueries({ queryKey: questions.limits.queryKey })
  const people = users.data?.users ?? []
  const teams = groups.data?.groups ?? []
  async function remove({ period, user_id, group_id }: UsageLimit) {
    const query = { ...(user_id && { user_id }), ...(group_id && { group_id }) }
    await attempted(text.removing, () => request("DELETE /api/experimental/chats/usage-limits/{period}", { path: { period }, query }))
    await changed()
  }
  const add = (
    <Button kind="primary" icon={Plus} onClick={() => setAdding(true)}>
      {text.add}
    </Button>
  )
  return (
    <>
      <PageTitle title={words.settings.pages.limits} text={text.text} actions={(limits.data?.limits.length ?? 0) > 0 && add} />
      <Loaded query={limits}>
        {(found) =>
          found.limits.length === 0 ? (
            <EmptyState icon={Gauge} title={text.none} text={text.noneText} action={add} />
          ) : (
            <Table
              caption={words.settings.pages.limits}
              isCaptionHidden
              rows={found.limits}
              rowKey={(one) => `${one.period}/${one.user_id}/${one.group_id}`}
              columns={[
                { key: "who", header: text.who, isMain: true, cell: (one) => nameOf(one, people, teams) },
                { key: "period", header: text.period, cell: (one) => text.periods[one.period] },
                {
                  key: "limit",
                  header: text.limit,
                  align: "end",
                  cell: (one) => (one.limit_micros === null ? text.unlimited : moneyText(one.limit_micros)),
                },
                {
                  key: "remove",
                  header: text.remove,
                  isHeaderHidden: true,
                  align: "end",
                  cell: (one) => (
                    <Button size="small" onClick={() => void remove(one)}>
                      {text.remove}
                    </Button>
                  ),
                },
              ]}
            />
          )
        }
      </Loaded>
      {isAdding && <LimitDialog users={people} groups={teams} onClose={() => setAdding(false)} onMade={() => void changed()} />}
    </>
  )
}

function nameOf(limit: UsageLimit, users: readonly User[], groups: readonly Group[]): string {
  const text = words.settings.limits
  if (limit.user_id) return users.find((one) => one.id === limit.user_id)?.username ?? limit.user_id
  if (limit.group_id) return text.group(groups.find((one) => one.id === limit.group_id)?.name ?? limit.group_id)
  return text.everyone
}
