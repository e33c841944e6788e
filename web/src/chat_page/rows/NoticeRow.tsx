import css from "./row.module.css"

export function NoticeRow({ text }: { text: string }) {
  return (
    <p role="note" className={css["notice"]}>
      {text}
    </p>
  )
}
