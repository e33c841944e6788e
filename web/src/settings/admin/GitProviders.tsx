import { useQuery, useQueryClient } from "@tanstack/react-query"
import { GitBranch, Plus } from "lucide-react"
import { useState } from "react"
import { request } from "../../api/request"
import type { GitProvider } from "../../api/schema"
import { Button } from "../../ui/buttons/Button"
import { toast } from "../../ui/floating/toast"
import { PageTitle } from "../../ui/layout/Page"
import { Table } from "../../ui/layout/Table"
import { Badge } from "../../ui/status/Badge"
import { EmptyState } from "../../ui/status/EmptyState"
import { words } from "../../words/with_settings"
import { attempted } from "../attempted"
import { DeleteByName } from "../form/DeleteByName"
import { Loaded } from "../Loaded"
import css from "../place.module.css"
import { questions } from "../questions"
import { GitProviderDialog } from "./GitProviderDialog"

export function GitProviders() {
  const providers = useQuery(questions.gitProviders)
  const [asked, ask] = useState<{ what: "save"; provider: GitProvider | null } | { what: "delete"; provider: GitProvider } | null>(null)
  const client = useQueryClient()
  const text = words.settings.git
  const changed = () => client.invalidateQueries({ queryKey: questions.gitProviders.queryKey })
  const add = (
    <Button kind="primary" icon={Plus} onClick={() => ask({ what: "save", provider: null })}>
      {text.add}
    </Button>
  )
  return (
    <>
      <PageTitle title={words.settings.pages.git} text={text.text} actions={(providers.data?.length ?? 0) > 0 && add} />
      <Loaded query={providers}>
        {(list) =>
          list.length === 0 ? (
            <EmptyState icon={GitBranch} title={text.none} text={text.noneText} action={add} />
          ) : (
            <Table
              caption={words.settings.pages.git}
              isCaptionHidden
              rows={list}
              rowKey={(one) => one.id}
              columns={[
                { key: "host", header: text.host, isMain: true, cell: (one) => one.host },
                { key: "kind", header: text.kind, cell: (one) => text.kinds[one.kind] },
                { key: "token", header: text.token, cell: (one) => (one.has_token ? <Badge kind="ok">{text.hasToken}</Badge> : <Badge>{text.hasNone}</Badge>) },
                {
                  key: "actions",
                  header: text.actions,
                  isHeaderHidden: true,
                  align: "end",
                  cell: (one) => (
                    <span className={css["end"]}>
                      <Button size="small" onClick={() => void test(one)}>
                        {text.test}
                      </Button>
                      <Button size="small" onClick={() => ask({ what: "save", provider: one })}>
                        {text.edit}
                      </Button>
                      <Button size="small" kind="danger" onClick={() => ask({ what: "delete", provider: one })}>
                        {words.settings.deleting.submit}
                      </Button>
                    </span>
                  ),
                },
              ]}
            />
          )
        }
      </Loaded>
      {asked?.what === "save" && <GitProviderDialog provider={asked.provider} onClose={() => ask(null)} onSaved={() => void changed()} />}
      {asked?.what === "delete" && (
        <DeleteByName
          name={asked.provider.host}
          text={text.deleteText}
          onClose={() => ask(null)}
          onDelete={async () => {
            await request("DELETE /api/experimental/git-providers/{git_provider}", { path: { git_provider: asked.provider.id } })
            await changed()
          }}
        />
      )}
    </>
  )
}

async function test(provider: GitProvider): Promise<void> {
  const text = words.settings.git
  await attempted(text.testing, async () => {
    const answer = await request("POST /api/experimental/git-providers/{git_provider}/test", { path: { git_provider: provider.id } })
    toast(answer.ok ? text.works(provider.host, answer.account ?? "") : text.fails(provider.host), {
      text: answer.message,
      kind: answer.ok ? "info" : "error",
      id: `test-${provider.id}`,
    })
  })
}
