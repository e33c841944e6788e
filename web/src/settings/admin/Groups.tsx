import { useQuery, useQueryClient } from "@tanstack/react-query"
import { Plus, UsersRound } from "lucide-react"
import { useState } from "react"
import { Link } from "wouter"
import { request } from "../../api/request"
import type { Group } from "../../api/schema"
import { Button } from "../../ui/buttons/Button"
import { Field } from "../../ui/inputs/Field"
import { TextInput } from "../../ui/inputs/TextInput"
import { PageTitle } from "../../ui/layout/Page"
import { Table } from "../../ui/layout/Table"
import { EmptyState } from "../../ui/status/EmptyState"
import { RelativeTime } from "../../ui/values/RelativeTime"
import { words } from "../../words/with_settings"
import { BackLink } from "../BackLink"
import { DeleteByName } from "../form/DeleteByName"
import { FormDialog } from "../form/FormDialog"
import { useForm } from "../form/use_form"
import { Loaded } from "../Loaded"
import type { PlaceProps } from "../pages"
import { questions } from "../questions"
import { GroupMembers } from "./GroupMembers"

export function Groups({ item }: PlaceProps) {
  const groups = useQuery(questions.groups)
  return (
    <Loaded query={groups}>
      {({ groups: list }) => {
        if (item === undefined) return <GroupList groups={list} />
        const found = list.find((one) => one.id === item)
        return (
          <>
            <BackLink to="/settings/groups">{words.settings.pages.groups}</BackLink>
            {found ? <GroupMembers group={found} /> : <EmptyState title={words.settings.gone} />}
          </>
        )
      }}
    </Loaded>
  )
}

function GroupList({ groups }: { groups: readonly Group[] }) {
  const [isAdding, setAdding] = useState(false)
  const [deleting, setDeleting] = useState<Group | null>(null)
  const client = useQueryClient()
  const text = words.settings.userGroups
  const changed = () => client.invalidateQueries({ queryKey: questions.groups.queryKey })
  const add = (
    <Button kind="primary" icon={Plus} onClick={() => setAdding(true)}>
      {text.add}
    </Button>
  )
  return (
    <>
      <PageTitle title={words.settings.pages.groups} text={text.text} actions={groups.length > 0 && add} />
      {groups.length === 0 ? (
        <EmptyState icon={UsersRound} title={text.none} text={text.noneText} action={add} />
      ) : (
        <Table
          caption={words.settings.pages.groups}
          isCaptionHidden
          rows={groups}
          rowKey={(one) => one.id}
          columns={[
            { key: "name", header: text.name, isMain: true, cell: (one) => <Link href={`/settings/groups/${one.id}`}>{one.display_name || one.name}</Link> },
            { key: "made", header: text.made, cell: (one) => <RelativeTime at={one.created_at} /> },
            {
              key: "delete",
              header: words.settings.deleting.submit,
              isHeaderHidden: true,
              align: "end",
              cell: (one) => (
                <Button size="small" kind="danger" onClick={() => setDeleting(one)}>
                  {words.settings.deleting.submit}
                </Button>
              ),
            },
          ]}
        />
      )}
      {isAdding && <GroupDialog onClose={() => setAdding(false)} onMade={() => void changed()} />}
      {deleting && (
        <DeleteByName
          name={deleting.name}
          text={text.deleteText}
          onClose={() => setDeleting(null)}
          onDelete={async () => {
            await request("DELETE /api/v2/groups/{group}", { path: { group: deleting.id } })
            await changed()
          }}
        />
      )}
    </>
  )
}

function GroupDialog({ onClose, onMade }: { onClose: () => void; onMade: () => void }) {
  const text = words.settings.userGroups
  const form = useForm({ name: "", display_name: "" }, async (value) => {
    await request("POST /api/v2/groups", { body: value })
    onMade()
    onClose()
  })
  return (
    <FormDialog form={form} title={text.add} submit={text.add} onClose={onClose}>
      <Field label={text.name} error={form.of("name")}>
        <TextInput value={form.value.name} onChange={(name) => form.set({ name })} isCode />
      </Field>
      <Field label={words.settings.models.displayName} isOptional error={form.of("display_name")}>
        <TextInput value={form.value.display_name} onChange={(display_name) => form.set({ display_name })} />
      </Field>
    </FormDialog>
  )
}
