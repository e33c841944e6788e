import { useQuery } from "@tanstack/react-query"
import { Link } from "wouter"
import { queries } from "../../api/queries"
import { words } from "../../words"
import css from "./ComposerBox.module.css"

/** For who can change it, the way there. */
export function NoModel() {
  const me = useQuery(queries.me)
  return (
    <span className={css["muted"]}>
      {me.data?.role === "owner" ? <Link href="/settings/providers">{words.composer.setUpModel}</Link> : words.composer.noModel}
    </span>
  )
}
