import css from "./chart.module.css"
import { trendPath } from "./trend"

export interface SparklineProps {
  values: readonly number[]
  /** What it shows, as words: it has no axes. */
  label: string
  width?: number | undefined
  height?: number | undefined
}

/** The course of something, as small as a word. */
export function Sparkline({ values, label, width = 96, height = 20 }: SparklineProps) {
  return (
    <svg role="img" aria-label={label} width={width} height={height} viewBox={`0 0 ${width} ${height}`} className={css["spark"]}>
      <path d={trendPath(values, width, height)} />
    </svg>
  )
}
