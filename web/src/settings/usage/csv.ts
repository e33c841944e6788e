/** Rows as a file that spreadsheets read. */
export type CsvValue = string | number

export function csvText(header: readonly string[], rows: readonly (readonly CsvValue[])[]): string {
  return [header, ...rows].map((row) => row.map(quoted).join(",")).join("\r\n") + "\r\n"
}

/** A name that begins as a formula does would be computed by the spreadsheet: the apostrophe makes it text. */
function quoted(value: CsvValue): string {
  if (typeof value === "number") return String(value)
  const safe = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}
