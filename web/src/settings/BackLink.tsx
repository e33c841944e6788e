import { ChevronLeft } from "lucide-react"
import type { ReactNode } from "react"
import { Link } from "wouter"
import { Icon } from "../ui/Icon"
import css from "./place.module.css"

/** From one thing to the list that it is in. */
export function BackLink({ to, children }: { to: string; children: ReactNode }) {
  return (
    <Link href={to} className={css["back"]}>
      <Icon of={ChevronLeft} />
      {children}
    </Link>
  )
}
