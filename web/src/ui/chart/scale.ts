/** Axes: round steps, and where values are drawn. */

/** A few round numbers from 0 to above the highest. */
export function ticks(highest: number, wanted = 4): number[] {
  if (!(highest > 0)) return [0]
  const rough = highest / wanted
  const power = 10 ** Math.floor(Math.log10(rough))
  const step = [1, 2, 2.5, 5, 10].map((factor) => factor * power).find((one) => one >= rough) ?? 10 * power
  const count = Math.ceil(highest / step - 1e-9)
  return Array.from({ length: count + 1 }, (_, place) => Number((place * step).toPrecision(12)))
}

/** Which of many labels are shown, so that they don't touch: the last always is, and where bars are narrow it ends with its own. */
export function shownLabels(count: number, width: number, each: number): Set<number> {
  const every = Math.max(1, Math.ceil((count * each) / Math.max(1, width)))
  const step = width / Math.max(1, count)
  const isFarFromLast = (after: number) => after === 0 || step >= each || after * step >= each * 1.5
  const places = Array.from({ length: count }, (_, place) => place)
  return new Set(places.filter((place) => (count - 1 - place) % every === 0 && isFarFromLast(count - 1 - place)))
}
