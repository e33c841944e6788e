import css from "./figures.module.css"
import { bytesText, durationText, moneyText } from "./spans"

/** Figures keep their width while they count. */
export function Duration({ milliseconds }: { milliseconds: number }) {
  return <span className={css["figure"]}>{durationText(milliseconds)}</span>
}

export function Money({ micros }: { micros: number }) {
  return <span className={css["figure"]}>{moneyText(micros)}</span>
}

export function Bytes({ bytes }: { bytes: number }) {
  return <span className={css["figure"]}>{bytesText(bytes)}</span>
}
