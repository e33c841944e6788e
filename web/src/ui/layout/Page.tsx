import { type ReactNode, useId } from "react"
import css from "./Page.module.css"

interface Head {
  title: ReactNode
  /** What it is for, in a sentence. */
  text?: ReactNode
  actions?: ReactNode
}

/** The one title of a page. */
export function PageTitle({ title, text, actions }: Head) {
  return (
    <header className={css["head"]}>
      <div className={css["words"]}>
        <h1 className={css["title"]}>{title}</h1>
        {text && <p className={css["text"]}>{text}</p>}
      </div>
      {actions && <div className={css["actions"]}>{actions}</div>}
    </header>
  )
}

/** A part of a page with a name of its own. */
export function Section({ title, text, actions, children }: Head & { children: ReactNode }) {
  const id = useId()
  return (
    <section aria-labelledby={id} className={css["section"]}>
      <header className={css["head"]}>
        <div className={css["words"]}>
          <h2 id={id} className={css["name"]}>
            {title}
          </h2>
          {text && <p className={css["text"]}>{text}</p>}
        </div>
        {actions && <div className={css["actions"]}>{actions}</div>}
      </header>
      <div className={css["body"]}>{children}</div>
    </section>
  )
}

/** Controls in a row. */
export function ToolbarRow({ label, children }: { label: string; children: ReactNode }) {
  return (
    <div role="group" aria-label={label} className={css["toolbar"]}>
      {children}
    </div>
  )
}

/** Read aloud, not seen. */
export function VisuallyHidden({ children }: { children: ReactNode }) {
  return <span className="unseen">{children}</span>
}
