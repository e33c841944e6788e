import { type ReactNode, useState } from "react"
import type { User } from "../../api/schema"
import { serverNow } from "../../api/server_clock"
import { Button } from "../../ui/buttons/Button"
import { BarList } from "../../ui/chart/BarList"
import { Segmented } from "../../ui/inputs/Segmented"
import { PageTitle, Section } from "../../ui/layout/Page"
import { moneyText } from "../../ui/values/spans"
import { words } from "../../words/with_settings"
import { Loaded } from "../Loaded"
import place from "../place.module.css"
import { type PeriodName, spanOf } from "./periods"
import { Summary } from "./Summary"
import { useSummary, useUserCosts } from "./use_costs"

/** What was spent: one's own, and for those who may see it anybody's. */
export function UsagePage({ me, opener }: { me: User; opener: ReactNode }) {
  const [period, setPeriod] = useState<PeriodName>("month")
  const [now] = useState(serverNow)
  const [other, setOther] = useState<{ id: string; name: string } | null>(null)
  const span = spanOf(period, now)
  const text = words.settings.usage
  const summary = useSummary(other?.id ?? "me", span)
  const mayReadEveryones = me.role !== "member"
  const costs = useUserCosts(span, mayReadEveryones)
  return (
    <div className={place["page"]}>
      <header className={place["bar"]}>
        {opener}
        {words.shell.usage}
      </header>
      <main className={place["contents"]}>
        <div className={place["column"]}>
          <PageTitle
            title={other ? text.of(other.name) : text.title}
            text={text.text}
            actions={
              <>
                {other && <Button onClick={() => setOther(null)}>{text.toOwn}</Button>}
                <Segmented
                  label={text.period}
                  value={period}
                  onChange={setPeriod}
                  segments={(["week", "month", "quarter"] as const).map((value) => ({ value, label: text.periods[value] }))}
                />
              </>
            }
          />
          <Loaded query={summary} lines={8}>
            {(found) => <Summary key={found.user_id} summary={found} span={span} mayReadEveryones={mayReadEveryones} />}
          </Loaded>
          {mayReadEveryones && <Users costs={costs} onChoose={setOther} />}
        </div>
      </main>
    </div>
  )
}

interface UsersProps {
  costs: ReturnType<typeof useUserCosts>
  onChoose: (user: { id: string; name: string }) => void
}

function Users({ costs, onChoose }: UsersProps) {
  const text = words.settings.usage
  return (
    <Section title={text.users} text={text.usersText}>
      <BarList
        label={text.users}
        bars={costs.users.map((one) => ({ key: one.user_id, label: one.display_name || one.username, value: one.total_cost_micros }))}
        format={moneyText}
        onSelect={(id) => {
          const found = costs.users.find((one) => one.user_id === id)
          if (found) onChoose({ id, name: found.display_name || found.username })
        }}
      />
      {costs.hasMore && (
        <Button onClick={costs.more} isBusy={costs.isFetching}>
          {words.common.more}
        </Button>
      )}
    </Section>
  )
}
