import css from "./card.module.css"

/** A command, a path or a name within a sentence. */
export function Code({ children, title }: { children: string; title?: string | undefined }) {
  return (
    <code className={css["code"]} title={title}>
      {children}
    </code>
  )
}

/** The last two names of a path: enough to know a file by. */
export function PathName({ path }: { path: string }) {
  const names = path.split("/").filter(Boolean)
  const short = names.length > 2 ? names.slice(-2).join("/") : path
  return <Code title={path}>{short}</Code>
}
