import { useQuery, useQueryClient } from "@tanstack/react-query"
import { request } from "../../api/request"
import type { Group } from "../../api/schema"
import { Button } from "../../ui/buttons/Button"
import { Select } from "../../ui/inputs/Select"
import { PageTitle } from "../../ui/layout/Page"
import { Table } from "../../ui/layout/Table"
import { words } from "../../words/with_settings"
import { attempted } from "../attempted"
import { Loaded } from "../Loaded"
import { questions } from "../questions"

export function GroupMembers({ group }: { group: Group }) {
  const members = useQuery(questions.groupMembers(group.id))
  const users = useQuery(questions.someUsers)
  const client = useQueryClient()
  const text = words.settings.userGroups
  const path = { group: group.id }
  async function change(act: () => Promise<unknown>) {
    await attempted(text.changing, act)
    await client.invalidateQueries({ queryKey: questions.groupMembers(group.id).queryKey })
  }
  const inside = new Set(members.data?.members.map((one) => one.id))
  const others = (users.data?.users ?? []).filter((one) => !inside.has(one.id))
  return (
    <>
      <PageTitle
        title={group.display_name || group.name}
        text={text.membersText}
        actions={
          others.length > 0 && (
            <Select
              aria-label={text.addMember}
              placeholder={text.addMember}
              choices={others.map((one) => ({ value: one.id, label: one.display_name || one.username }))}
              value={null}
              onChange={(id) => void change(() => request("POST /api/v2/groups/{group}/members", { path, body: { user_ids: [id] } }))}
            />
          )
        }
      />
      <Loaded query={members}>
        {(found) => (
          <Table
            caption={text.members}
            isCaptionHidden
            rows={found.members}
            rowKey={(one) => one.id}
            empty={text.noMembers}
            columns={[
              { key: "name", header: text.name, isMain: true, cell: (one) => one.display_name || one.username },
              {
                key: "remove",
                header: text.remove,
                isHeaderHidden: true,
                align: "end",
                cell: (one) => (
                  <Button
                    size="small"
                    onClick={() => void change(() => request("DELETE /api/v2/groups/{group}/members/{user}", { path: { ...path, user: one.id } }))}
                  >
                    {text.remove}
                  </Button>
                ),
              },
            ]}
          />
        )}
      </Loaded>
    </>
  )
}
