import { useQuery, useQueryClient } from "@tanstack/react-query"
import { Cable, Plus } from "lucide-react"
import { Link, useLocation } from "wouter"
import { queries } from "../../api/queries"
import { request } from "../../api/request"
import type { Provider } from "../../api/schema"
import { Button } from "../../ui/buttons/Button"
import { toast } from "../../ui/floating/toast"
import { Switch } from "../../ui/inputs/Switch"
import { PageTitle } from "../../ui/layout/Page"
import { Table } from "../../ui/layout/Table"
import { Badge } from "../../ui/status/Badge"
import { EmptyState } from "../../ui/status/EmptyState"
import { words } from "../../words/with_settings"
import { BackLink } from "../BackLink"
import { Loaded } from "../Loaded"
import type { PlaceProps } from "../pages"
import css from "../place.module.css"
import { questions } from "../questions"
import { kinds } from "./kinds"
import { ProviderAdd, ProviderEdit } from "./ProviderDetail"

export function ProvidersPage({ item }: PlaceProps) {
  const providers = useQuery(questions.providers)
  const back = <BackLink to="/settings/providers">{words.settings.pages.providers}</BackLink>
  if (item === "new")
    return (
      <>
        {back}
        <ProviderAdd />
      </>
    )
  if (item === undefined) return <Loaded query={providers}>{(list) => <ProviderList providers={list} />}</Loaded>
  return (
    <Loaded query={providers}>
      {(list) => {
        const found = list.find((one) => one.id === item)
        return (
          <>
            {back}
            {found ? <ProviderEdit key={found.id} provider={found} /> : <EmptyState title={words.settings.gone} />}
          </>
        )
      }}
    </Loaded>
  )
}

function ProviderList({ providers }: { providers: readonly Provider[] }) {
  const [, navigate] = useLocation()
  const client = useQueryClient()
  const text = words.settings.providers
  const add = (
    <Button kind="primary" icon={Plus} onClick={() => navigate("/settings/providers/new")}>
      {text.add}
    </Button>
  )
  async function enable(provider: Provider, enabled: boolean) {
    try {
      await request("PATCH /api/experimental/chats/providers/{provider}", { path: { provider: provider.id }, body: { enabled } })
    } catch (failure) {
      toast(words.common.failed(text.switching), { kind: "error", text: failure instanceof Error ? failure.message : undefined })
    }
    await Promise.all([questions.providers, queries.models].map(({ queryKey }) => client.invalidateQueries({ queryKey })))
  }
  return (
    <>
      <PageTitle title={words.settings.pages.providers} text={text.text} actions={providers.length > 0 && add} />
      {providers.length === 0 ? (
        <EmptyState icon={Cable} title={text.none} text={text.noneText} action={add} />
      ) : (
        <Table
          caption={words.settings.pages.providers}
          isCaptionHidden
          rows={providers}
          rowKey={(one) => one.id}
          columns={[
            {
              key: "name",
              header: text.name,
              isMain: true,
              cell: (one) => (
                <>
                  <Link href={`/settings/providers/${one.id}`}>{one.display_name || one.name}</Link>
                  {one.base_url && <span className={css["below"]}>{one.base_url}</span>}
                </>
              ),
            },
            { key: "type", header: text.type, cell: (one) => kinds[one.type].label },
            {
              key: "key",
              header: text.key,
              cell: (one) => (one.has_api_key ? <Badge kind="ok">{text.hasKey}</Badge> : <Badge>{text.hasNoKey}</Badge>),
            },
            {
              key: "enabled",
              header: words.settings.on,
              align: "end",
              cell: (one) => (
                <Switch
                  isOn={one.enabled}
                  onChange={(enabled) => void enable(one, enabled)}
                  aria-label={words.settings.switchOn(one.display_name || one.name)}
                />
              ),
            },
          ]}
        />
      )}
    </>
  )
}
