import { Component, type ReactNode } from "react"
import { Button } from "../buttons/Button"
import { words } from "../../words"
import css from "./Crash.module.css"

/** What fails in here fails alone. A chunk that an older page asks a newer server for is there after a reload. */
export class Crash extends Component<{ children: ReactNode; resetKey?: string }, { error: Error | null }> {
  override state: { error: Error | null } = { error: null }

  static getDerivedStateFromError(error: Error) {
    return { error }
  }

  override componentDidUpdate(before: { resetKey?: string }) {
    if (before.resetKey !== this.props.resetKey && this.state.error) this.setState({ error: null })
  }

  override render() {
    if (!this.state.error) return this.props.children
    return (
      <div role="alert" className={css["crash"]}>
        <h2>{words.shell.crashed}</h2>
        <p>{words.shell.crashedText}</p>
        <p className={css["detail"]}>{this.state.error.message}</p>
        <div className={css["actions"]}>
          <Button onClick={() => this.setState({ error: null })}>{words.common.tryAgain}</Button>
          <Button kind="primary" onClick={() => location.reload()}>
            {words.shell.reload}
          </Button>
        </div>
      </div>
    )
  }
}
