import { useState } from "react"
import { words } from "../../words"
import css from "./Files.module.css"
import { FileTree } from "./FileTree"
import { FileView } from "./FileView"

/** The files of a workspace, and one of them to read. */
export function FilesTab({ chatId, workspaceId }: { chatId: string; workspaceId: string }) {
  const [shown, setShown] = useState<string | null>(null)
  return (
    <div className={css["files"]} data-reading={shown !== null}>
      <div className={css["tree"]}>
        <FileTree workspaceId={workspaceId} selected={shown} onSelect={setShown} />
      </div>
      <div className={css["view"]}>
        {shown === null ? (
          <p className={css["choose"]}>{words.panel.files.choose}</p>
        ) : (
          <FileView key={shown} chatId={chatId} workspaceId={workspaceId} path={shown} onBack={() => setShown(null)} />
        )}
      </div>
    </div>
  )
}
