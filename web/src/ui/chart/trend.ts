/** A line through values, in a box with a pixel to spare on each side. */
export function trendPath(values: readonly number[], width: number, height: number): string {
  const lowest = Math.min(...values, 0)
  const highest = Math.max(...values)
  const isFlat = values.every((value) => value === values[0])
  const range = isFlat ? 1 : highest - lowest
  return values
    .map((value, place) => {
      const x = values.length > 1 ? 1 + (place / (values.length - 1)) * (width - 2) : width / 2
      const y = height - 1 - (isFlat ? 0 : ((value - lowest) / range) * (height - 2))
      return `${place === 0 ? "M" : "L"}${x.toFixed(1)},${y.toFixed(1)}`
    })
    .join(" ")
}
