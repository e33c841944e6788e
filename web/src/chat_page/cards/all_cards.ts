/** One chunk: what tools have done is read after what was said. */
export { ReadFilesCard } from "./ReadFilesCard"
export { ToolCard } from "./ToolCard"
