import { useQuery, type UseQueryResult } from "@tanstack/react-query"
import { ArrowLeft, AtSign, Download } from "lucide-react"
import { type ReactNode, useRef } from "react"
import { addReference, draftOf, writeText } from "../../chat"
import { ButtonLink } from "../../ui/buttons/Button"
import { IconButton } from "../../ui/buttons/IconButton"
import { CodeBlock } from "../../ui/code/CodeBlock"
import { toast } from "../../ui/floating/toast"
import { EmptyState, ErrorState } from "../../ui/status/EmptyState"
import { SkeletonLines } from "../../ui/status/Skeleton"
import { bytesText } from "../../ui/values/spans"
import { words } from "../../words"
import { fileAddress, fileQuery, type FileText, mostBytes } from "./file_queries"
import css from "./Files.module.css"
import { selectedLines } from "./selected_lines"

export interface FileViewProps {
  chatId: string
  workspaceId: string
  path: string
  onBack: () => void
}

const picture = /\.(png|jpe?g|gif|webp)$/i

export function FileView({ chatId, workspaceId, path, onBack }: FileViewProps) {
  const file = useQuery({ ...fileQuery(workspaceId, path), enabled: !picture.test(path) })
  const box = useRef<HTMLDivElement>(null)
  const name = path.slice(path.lastIndexOf("/") + 1)
  const text = words.panel.files
  const content = file.data?.text ?? null

  /** Selected lines go along as a reference; without any, the path is named in the text. */
  function mention(): void {
    const lines = content === null ? null : selectedLines(box.current, document.getSelection())
    const draft = draftOf(chatId)
    if (lines && content !== null) {
      const quoted = content.split("\n").slice(lines.first - 1, lines.last).join("\n")
      addReference(draft, { type: "file-reference", file_name: path, start_line: lines.first, end_line: lines.last, content: quoted })
    } else {
      const written = draft.getState().text
      writeText(draft, `${written}${written === "" || /\s$/.test(written) ? "" : " "}\`${path}\` `)
    }
    toast(words.panel.diff.added, { id: "comment" })
  }

  return (
    <>
      <div className={css["head"]}>
        <span className={css["back"]}>
          <IconButton name={text.back} icon={ArrowLeft} size="small" onClick={onBack} />
        </span>
        <span className={css["path"]} title={path}>
          {name}
        </span>
        <IconButton
          name={`${text.mention}. ${text.mentionHint}`}
          icon={AtSign}
          size="small"
          // Pressing it must not take the selection away.
          onMouseDown={(event) => event.preventDefault()}
          onClick={mention}
        />
        <ButtonLink kind="quiet" size="small" icon={Download} href={fileAddress(workspaceId, path)} download={name}>
          {text.download}
        </ButtonLink>
      </div>
      <div ref={box} className={css["scroll"]}>
        <Contents file={file} path={path} workspaceId={workspaceId} name={name} />
      </div>
    </>
  )
}

interface ContentsProps {
  file: UseQueryResult<FileText>
  path: string
  workspaceId: string
  name: string
}

function Contents({ file, path, workspaceId, name }: ContentsProps): ReactNode {
  const text = words.panel.files
  if (picture.test(path)) return <img src={fileAddress(workspaceId, path, true)} alt={name} className={css["picture"]} />
  if (file.error && !file.data) {
    return <ErrorState title={text.fileFailed} text={file.error.message} onRetry={() => void file.refetch()} isRetrying={file.isFetching} />
  }
  if (!file.data) {
    return (
      <div className={css["loading"]}>
        <SkeletonLines count={10} />
      </div>
    )
  }
  if (file.data.text === null) return <EmptyState title={text.binary} text={text.binaryText} />
  return (
    <>
      {file.data.isCut && <p className={css["note"]}>{text.cut(bytesText(mostBytes), bytesText(file.data.bytes))}</p>}
      <CodeBlock code={file.data.text.replace(/\n$/, "")} fileName={name} firstLine={1} />
    </>
  )
}
