import { Component, type ReactNode } from "react"

interface FallbackProps {
  children: ReactNode
  /** What is drawn. It is tried again when it is another object: arguments may have been half written. */
  of: object
  /** In place of what has failed. */
  instead: ReactNode
}

/** A card that can't draw what it was given leaves its place to a plainer one. */
export class Fallback extends Component<FallbackProps, { hasFailed: boolean }> {
  override state = { hasFailed: false }

  static getDerivedStateFromError() {
    return { hasFailed: true }
  }

  override componentDidUpdate(before: FallbackProps) {
    if (before.of !== this.props.of && this.state.hasFailed) this.setState({ hasFailed: false })
  }

  override render() {
    return this.state.hasFailed ? this.props.instead : this.props.children
  }
}
