import { ChevronLeft, Lock } from "lucide-react"
import { type ReactNode, useEffect, useRef } from "react"
import { Link, useRoute } from "wouter"
import type { User } from "../api/schema"
import { EmptyState } from "../ui/status/EmptyState"
import { Icon } from "../ui/Icon"
import { Crash } from "../ui/status/Crash"
import { words } from "../words/with_settings"
import { mayOpen, pages, type SettingsPlace } from "./pages"
import css from "./place.module.css"

/** A list on the left and one page of it; on a phone the one or the other. */
export function SettingsPage({ me, opener }: { me: User; opener: ReactNode }) {
  const [, params] = useRoute("/settings/:page?/:item?")
  const asked = params?.page
  const place = pages.find((one) => one.path === (asked ?? pages[0]?.path))
  const contents = useRef<HTMLElement>(null)
  const shown = `${asked}/${params?.item}`
  // Another page is read from its beginning.
  useEffect(() => {
    contents.current?.scrollTo(0, 0)
  }, [shown])
  return (
    <div className={css["page"]} data-at={asked === undefined ? "list" : "detail"}>
      <header className={css["bar"]}>
        {opener}
        {words.settings.title}
      </header>
      <div className={css["columns"]}>
        <Nav me={me} current={place?.path} />
        <main ref={contents} className={css["contents"]}>
          <div className={css["column"]}>
            <Link href="/settings" className={`${css["back"]} ${css["toList"]}`}>
              <Icon of={ChevronLeft} />
              {words.settings.all}
            </Link>
            <Crash resetKey={shown}>
              <Chosen me={me} place={place} item={params?.item} />
            </Crash>
          </div>
        </main>
      </div>
    </div>
  )
}

function Chosen({ me, place, item }: { me: User; place: SettingsPlace | undefined; item: string | undefined }) {
  if (!place) return <EmptyState isPage title={words.shell.notFound} text={words.shell.notFoundText} />
  if (!mayOpen(me, place)) return <EmptyState isPage icon={Lock} title={words.settings.adminsOnly} text={words.settings.adminsOnlyText} />
  return <place.Page key={place.path} me={me} item={item} />
}

function Nav({ me, current }: { me: User; current: string | undefined }) {
  const groups = (["personal", "admin"] as const).map((name) => ({
    name,
    places: pages.filter((one) => one.group === name && mayOpen(me, one)),
  }))
  return (
    <nav aria-label={words.settings.title} className={css["nav"]}>
      {groups
        .filter((group) => group.places.length > 0)
        .map(({ name, places }) => (
          <div key={name}>
            <h2 className={css["group"]}>{words.settings.groups[name]}</h2>
            <ul>
              {places.map((place) => (
                <li key={place.path}>
                  <Link href={`/settings/${place.path}`} className={css["link"]} aria-current={place.path === current ? "page" : undefined}>
                    <Icon of={place.icon} />
                    {place.label}
                  </Link>
                </li>
              ))}
            </ul>
          </div>
        ))}
    </nav>
  )
}
