import { words } from "../words"

export function App() {
  return <main>{words.common.name}</main>
}
