import { ListFilter } from "lucide-react"
import { Button } from "../ui/buttons/Button"
import { IconButton } from "../ui/buttons/IconButton"
import { Menu } from "../ui/floating/Menu"
import { words } from "../words"
import { type FilterName, filterNames, type Filters, noFilters } from "./filters"
import css from "./Sidebar.module.css"

export interface FilterProps {
  filters: Filters
  onChange: (filters: Filters) => void
}

export function FilterMenu({ filters, onChange, onSelect }: FilterProps & { onSelect: () => void }) {
  const text = words.sidebar
  return (
    <Menu
      align="end"
      entries={[
        ...filterNames.map((name) => ({
          label: text.filters[name],
          isChecked: filters.has(name),
          choose: (isChecked: boolean) => onChange(changed(filters, name, isChecked)),
        })),
        "line",
        { label: text.clearFilters, isDisabled: filters.size === 0, run: () => onChange(noFilters) },
        { label: text.select, run: onSelect },
      ]}
    >
      <IconButton name={text.filter} icon={ListFilter} isPressed={filters.size > 0} />
    </Menu>
  )
}

/** What the list is narrowed to, and the way back. */
export function Filtered({ filters, onChange }: FilterProps) {
  const names = filterNames.filter((name) => filters.has(name)).map((name) => words.sidebar.filters[name])
  return (
    <div className={css["filtered"]}>
      <h2>{names.join(", ")}</h2>
      <Button size="small" kind="quiet" onClick={() => onChange(noFilters)}>
        {words.sidebar.clear}
      </Button>
    </div>
  )
}

function changed(filters: Filters, name: FilterName, isWanted: boolean): Filters {
  const next = new Set(filters)
  if (isWanted) next.add(name)
  else next.delete(name)
  return next
}
