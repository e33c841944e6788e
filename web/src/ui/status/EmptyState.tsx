import { CircleX, type LucideIcon } from "lucide-react"
import type { ReactNode } from "react"
import { words } from "../../words"
import { Button } from "../buttons/Button"
import { Icon } from "../Icon"
import { Disclosure } from "../layout/Disclosure"
import css from "./EmptyState.module.css"

export interface EmptyStateProps {
  icon?: LucideIcon | undefined
  title: ReactNode
  /** What it is for. */
  text?: ReactNode
  /** One button. */
  action?: ReactNode
  /** It is all that its page has: the title is that of the page. */
  isPage?: boolean | undefined
}

/** Nothing is here yet: what it would be, and how to begin. */
export function EmptyState({ icon, title, text, action, isPage = false }: EmptyStateProps) {
  const Title = isPage ? "h1" : "p"
  return (
    <div className={css["state"]}>
      {icon && <Icon of={icon} size={20} className={css["icon"]} />}
      <Title className={css["title"]}>{title}</Title>
      {text && <p className={css["text"]}>{text}</p>}
      {action}
    </div>
  )
}

export interface ErrorStateProps {
  /** What happened. */
  title: ReactNode
  /** What is safe, and what to do. */
  text?: ReactNode
  onRetry?: (() => void) | undefined
  isRetrying?: boolean | undefined
  action?: ReactNode
  /** For those who want to know, or to report it. */
  details?: string | undefined
}

/** A place that could not be filled. */
export function ErrorState({ title, text, onRetry, isRetrying, action, details }: ErrorStateProps) {
  return (
    <div role="alert" className={css["state"]}>
      <Icon of={CircleX} size={20} className={css["wrong"]} />
      <p className={css["title"]}>{title}</p>
      {text && <p className={css["text"]}>{text}</p>}
      {(onRetry || action) && (
        <div className={css["actions"]}>
          {onRetry && (
            <Button onClick={onRetry} isBusy={isRetrying}>
              {words.common.tryAgain}
            </Button>
          )}
          {action}
        </div>
      )}
      {details !== undefined && (
        <Disclosure summary={words.ui.details}>
          <pre className={css["details"]}>{details}</pre>
        </Disclosure>
      )}
    </div>
  )
}
