import css from "./Turning.module.css"

/** The turning ring alone, for places that have words of their own. */
export function Turning() {
  return <span aria-hidden className={css["ring"]} />
}
