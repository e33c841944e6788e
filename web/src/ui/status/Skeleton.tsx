import { words } from "../../words"
import css from "./Skeleton.module.css"

/** The shape of what is coming, as a grey bar. Widths and heights as CSS has them. */
export function Skeleton({ width = "100%", height = "1em" }: { width?: string | undefined; height?: string | undefined }) {
  return <span aria-hidden className={css["bar"]} style={{ width, height }} />
}

const widths = ["92%", "78%", "85%", "64%", "88%", "71%"]

/** Lines of a text or of a list that is coming. */
export function SkeletonLines({ count = 3, height }: { count?: number | undefined; height?: string | undefined }) {
  return (
    <div role="status" className={css["lines"]}>
      <span className="unseen">{words.common.loading}</span>
      {Array.from({ length: count }, (_, place) => (
        <Skeleton key={place} width={widths[place % widths.length]} height={height} />
      ))}
    </div>
  )
}
