/** To where something has to be changed: the first field that is marked as wrong. */
export function focusFirstWrong(form: HTMLFormElement | null): void {
  form?.querySelector<HTMLElement>("[aria-invalid=true]")?.focus()
}
