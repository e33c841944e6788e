import type { Meta, StoryObj } from "@storybook/react-vite"
import { useEffect, useState } from "react"
import { expect, spyOn, userEvent, waitFor } from "storybook/test"
import { call, interrupted, refused } from "./testing/calls"
import { Cards } from "./testing/Cards"
import { openByKeyboard } from "./testing/opening"

const meta: Meta = { title: "cards/Commands" }
export default meta
type Story = StoryObj

const pytest = { command: "pytest -q" }
const passed = "\u001b[32m....................\u001b[0m [100%]\n20 passed in 3.02s"

export const Writing: Story = {
  render: () => <Cards of={[call("execute", "writing"), call("execute", "writing", { args: { command: "pytest -q tests/ser" } })]} />,
  play: async ({ canvas }) => {
    await expect(canvas.getByText(/Running a command/)).toBeVisible()
    await expect(canvas.getByText("pytest -q tests/ser")).toBeVisible()
    await expect(canvas.queryByRole("button")).toBeNull()
  },
}

const slow = call("execute", "running", { args: pytest })

function Speaking() {
  const [count, setCount] = useState(1)
  useEffect(() => {
    const timer = setInterval(() => setCount((known) => Math.min(40, known + 1)), 50)
    return () => clearInterval(timer)
  }, [])
  const output = Array.from({ length: count }, (_, place) => `\u001b[32mtest ${place + 1} passed\u001b[0m`).join("\n")
  return <Cards of={[{ ...slow, output }]} />
}

export const Running: Story = {
  render: () => <Speaking />,
  play: async ({ canvas, canvasElement }) => {
    await expect(canvas.getByText("pytest -q")).toBeVisible()
    const box = await canvas.findByRole("group", { name: "Output of pytest -q" }, { timeout: 3000 })
    await waitFor(() => expect(box).toHaveTextContent("test 40 passed"), { timeout: 4000 })
    await waitFor(() => expect(box.scrollTop + box.clientHeight).toBeGreaterThan(box.scrollHeight - 4))
    await expect(canvasElement.querySelector("[class*=ring]")).not.toBeNull()
    await expect(box).toHaveAttribute("aria-busy", "true")
  },
}

/** What ends at once is not seen to turn. */
export const QuietAtFirst: Story = {
  render: () => <Cards of={[call("execute", "running", { args: pytest })]} />,
  play: async ({ mount, canvasElement }) => {
    const seen = new Map<string, number>()
    const look = () => {
      for (const what of ["[data-tool]", "[class*=ring]"]) if (!seen.has(what) && canvasElement.querySelector(what)) seen.set(what, performance.now())
    }
    const observer = new MutationObserver(look)
    observer.observe(canvasElement, { childList: true, subtree: true })
    await mount()
    await waitFor(() => expect(seen.size).toBe(2))
    observer.disconnect()
    await expect((seen.get("[class*=ring]") ?? 0) - (seen.get("[data-tool]") ?? 0)).toBeGreaterThan(250)
  },
}

const ended = call("execute", "running", { args: { command: "make" }, output: "cc -o chat chat.c" })

function Ending() {
  const [isOver, setOver] = useState(false)
  useEffect(() => {
    const timer = setTimeout(() => setOver(true), 1800)
    return () => clearTimeout(timer)
  }, [])
  const done = { state: "done", output: null, result: { success: true, exit_code: 0, wall_duration_ms: 1800, output: "cc -o chat chat.c" } } as const
  return <Cards of={[isOver ? { ...ended, ...done }: ended]} />
}

/** What has opened by itself folds by itself, when nobody is at it. */
export const FoldsAtItsEnd: Story = {
  render: () => <Ending />,
  play: async ({ canvas }) => {
    await canvas.findByRole("button", { expanded: true }, { timeout: 3000 })
    await canvas.findByRole("button", { name: /Ran make.*1.8 s · exit 0/, expanded: false }, { timeout: 3000 })
  },
}

export const Done: Story = {
  render: () => (
    <Cards
      of={[
        call("execute", "done", {
          args: { ...pytest, workdir: "/home/dev/chatd" },
          result: { success: true, exit_code: 0, wall_duration_ms: 3210, output: passed },
        }),
        call("execute", "done", {
          args: { command: "cd web && \\\n  npm ci && \\\n  npm test", model_intent: "Running the tests of the web app" },
          result: { success: true, exit_code: 0, wall_duration_ms: 41_000, output: "ok" },
        }),
        call("execute", "done", { args: { command: "true" }, result: { success: true, exit_code: 0, wall_duration_ms: 12 } }),
      ]}
    />
  ),
  play: async ({ canvas }) => {
    const line = canvas.getByRole("button", { name: /Ran pytest -q 3.2 s · exit 0/ })
    await openByKeyboard(line)
    await userEvent.tab()
    await expect(canvas.getByRole("group", { name: "Command" })).toHaveFocus()
    await userEvent.tab()
    await expect(canvas.getByRole("button", { name: "Copy command" })).toHaveFocus()
    await userEvent.tab()
    const box = canvas.getByRole("group", { name: "Output of pytest -q" })
    await expect(box).toHaveFocus()
    await expect(box).toHaveTextContent("20 passed")
    await expect(canvas.getByText("in /home/dev/chatd")).toBeVisible()
    const written = spyOn(navigator.clipboard, "writeText").mockResolvedValue()
    await userEvent.click(canvas.getByRole("button", { name: "Copy command" }))
    await expect(written).toHaveBeenCalledWith("pytest -q")
    await userEvent.click(canvas.getByRole("button", { name: "Copy output" }))
    await expect(written).toHaveBeenLastCalledWith(passed)
    await expect(canvas.getByRole("button", { name: /Running the tests of the web app cd web … 41 s · exit 0/ })).toBeVisible()
    await openByKeyboard(canvas.getByRole("button", { name: /Ran true/ }))
    await expect(canvas.getByText("No output")).toBeVisible()
  },
}

export const DoneDark: Story = { ...Done, globals: { theme: "dark" } }

export const Failed: Story = {
  render: () => (
    <Cards
      of={[
        call("execute", "failed", {
          args: pytest,
          result: { success: false, exit_code: 1, wall_duration_ms: 3210, output: "\u001b[31mF\u001b[0m\n1 failed" },
        }),
        call("execute", "failed", {
          args: { command: "sleep 100" },
          result: { success: false, exit_code: 137, signal: "SIGKILL", wall_duration_ms: 9000, output: "" },
        }),
        refused("execute", { command: "ls" }, "This chat has no workspace. Call create_workspace to get one."),
      ]}
    />
  ),
  play: async ({ canvas }) => {
    const line = canvas.getByRole("button", { name: /Ran pytest -q 3.2 s · exit 1/ })
    await openByKeyboard(line)
    await expect(canvas.getByRole("group", { name: "Output of pytest -q" })).toHaveTextContent("1 failed")
    await expect(canvas.getByRole("button", { name: /Ran sleep 100 9 s · ended by SIGKILL/ })).toBeVisible()
    const refusedLine = canvas.getByRole("button", { name: /Could not run ls: This chat has no workspace/ })
    await openByKeyboard(refusedLine)
    await expect(canvas.queryByRole("group", { name: "Output of ls" })).toBeNull()
  },
}

export const FailedDark: Story = { ...Failed, globals: { theme: "dark" } }

const left = "The user interrupted this turn. The command was not stopped and may still run."

export const Interrupted: Story = {
  render: () => (
    <Cards
      of={[
        call("execute", "interrupted", {
          args: { command: "npm run dev" },
          error: left,
          result: { success: false, exit_code: -1, wall_duration_ms: 0, error: left, background_process_id: "p-7f3a9c01aa22" },
        }),
        interrupted("execute", { command: "ls" }),
      ]}
    />
  ),
  play: async ({ canvas }) => {
    await openByKeyboard(canvas.getByRole("button", { name: "Running npm run dev Stopped waiting" }))
    await expect(canvas.getByText(left)).toBeVisible()
    await expect(canvas.getByText("process p-7f3a9c01aa22")).toBeVisible()
    await expect(canvas.getByRole("button", { name: "Running ls Stopped" })).toBeVisible()
  },
}

export const LeftRunning: Story = {
  render: () => (
    <Cards
      of={[
        call("execute", "done", {
          args: { command: "npm run dev", run_in_background: true },
          result: { success: true, exit_code: 0, wall_duration_ms: 0, background_process_id: "7f3a9c01-aa22", backgrounded: true },
        }),
        call("execute", "done", {
          args: { command: "make all", timeout: "90s" },
          result: {
            success: false,
            exit_code: -1,
            wall_duration_ms: 90_000,
            output: "compiling",
            error: "The command did not end within 90s and goes on running.",
            background_process_id: "11223344-5566",
            running: true,
          },
        }),
      ]}
    />
  ),
  play: async ({ canvas }) => {
    const started = canvas.getByRole("button", { name: /Started npm run dev in the background · process 7f3a9c01/ })
    await openByKeyboard(started)
    await expect(canvas.queryByText("No output")).toBeNull()
    await openByKeyboard(canvas.getByRole("button", { name: /Ran make all 1 min 30 s · still running · process 11223344/ }))
    await expect(canvas.getByRole("group", { name: "Output of make all" })).toHaveTextContent("compiling")
  },
}

export const Cut: Story = {
  render: () => (
    <Cards
      of={[
        call("execute", "done", {
          args: { command: "cat log" },
          result: {
            success: true,
            exit_code: 0,
            wall_duration_ms: 80,
            output: "first line\n\n[48213 bytes are left out here]\n\nlast line ... [900 bytes of this line are left out]",
            truncated: { original_bytes: 81_000, retained_bytes: 31_887, omitted_bytes: 49_113, strategy: "head_tail" },
          },
        }),
      ]}
    />
  ),
  play: async ({ canvas }) => {
    await openByKeyboard(canvas.getByRole("button", { name: /Ran cat log/ }))
    const box = canvas.getByRole("group", { name: "Output of cat log" })
    await expect(box).toHaveTextContent("first line ⋯ 48 kB left out here ⋯ last line ⋯ 900 B of this line left out ⋯")
    await expect(canvas.getByText("49 kB of 81 kB are left out. The output says where.")).toBeVisible()
  },
}

const id = "7f3a9c01-aa22"

export const Looking: Story = {
  render: () => (
    <Cards
      of={[
        call("process_output", "writing"),
        call("process_output", "running", { args: { process_id: id, model_intent: "Waiting for the build" } }),
        call("process_output", "done", {
          args: { process_id: id },
          result: { success: true, exit_code: 0, wall_duration_ms: 10_000, output: "still compiling", running: true, command: "make all" },
        }),
        call("process_output", "failed", {
          args: { process_id: id },
          result: { success: false, exit_code: 2, wall_duration_ms: 400, output: "make: *** error", command: "make all" },
        }),
        refused("process_output", { process_id: "nothing" }, "There is no process 'nothing' in this chat."),
        interrupted("process_output", { process_id: id }),
      ]}
    />
  ),
  play: async ({ canvas }) => {
    await expect(canvas.getByText(/Waiting for a process/)).toBeVisible()
    await expect(canvas.getByText(/Waiting for the build/)).toBeVisible()
    await openByKeyboard(canvas.getByRole("button", { name: /Looked at make all 10 s · still running/ }))
    await expect(canvas.getByRole("group", { name: "Output of make all" })).toHaveTextContent("still compiling")
    await expect(canvas.getByRole("button", { name: /Looked at make all 400 ms · exit 2/ })).toBeVisible()
    await expect(canvas.getByRole("button", { name: /Could not look at process nothing: There is no process/ })).toBeVisible()
    await expect(canvas.getByRole("button", { name: "Waiting for process 7f3a9c01 Stopped waiting" })).toBeVisible()
  },
}

export const LookingDark: Story = { ...Looking, globals: { theme: "dark" } }

const now = Math.round(Date.now() / 1000)

export const Listing: Story = {
  render: () => (
    <Cards
      of={[
        call("process_list", "running"),
        call("process_list", "done", {
          args: {},
          result: {
            processes: [
              { id, command: "npm run dev", workdir: "/home/dev", background: true, state: "running", running: true, started_at_unix: now - 180 },
              { id: "aa", command: "make", workdir: "/home/dev", background: false, state: "exited", running: false, started_at_unix: now - 900, exit_code: 2 },
              { id: "bb", command: "tail -f log", workdir: "/", background: true, state: "unknown", running: false, started_at_unix: now - 9000 },
            ],
          },
        }),
        call("process_list", "done", { result: { processes: [] } }),
        refused("process_list", {}, "The workspace does not answer. Try again."),
        interrupted("process_list", {}),
      ]}
    />
  ),
  play: async ({ canvas }) => {
    await expect(canvas.getAllByText(/Listing commands/)[0]).toBeVisible()
    await openByKeyboard(canvas.getByRole("button", { name: /Listed commands 3 commands/ }))
    const table = canvas.getByRole("table", { name: "Listed commands" })
    await expect(table).toHaveTextContent("npm run devRunning3 min ago7f3a9c01")
    await expect(table).toHaveTextContent("Ended, exit 2")
    await expect(table).toHaveTextContent("Not known")
    await openByKeyboard(canvas.getByRole("button", { name: /Listed commands 0 commands/ }))
    await expect(canvas.getByText(/No commands run/)).toBeVisible()
    await expect(canvas.getByRole("button", { name: /Could not list commands: The workspace does not answer/ })).toBeVisible()
  },
}

export const ListingDark: Story = { ...Listing, globals: { theme: "dark" } }

export const Signals: Story = {
  render: () => (
    <Cards
      of={[
        call("process_signal", "writing", { args: { process_id: "7f3a" } }),
        call("process_signal", "running", { args: { process_id: id, signal: "kill" } }),
        call("process_signal", "done", {
          args: { process_id: id, signal: "terminate" },
          result: { success: true, message: "Sent terminate to the process and all that it has started." },
        }),
        call("process_signal", "failed", {
          args: { process_id: id, signal: "kill" },
          result: { success: false, error: "The process has ended already." },
          error: "The process has ended already.",
        }),
        interrupted("process_signal", { process_id: id, signal: "terminate" }),
      ]}
    />
  ),
  play: async ({ canvas }) => {
    await expect(canvas.getByText("process 7f3a")).toBeVisible()
    await expect(canvas.getByText(/Killing/)).toBeVisible()
    await openByKeyboard(canvas.getByRole("button", { name: "Ended process 7f3a9c01" }))
    await expect(canvas.getByText(/Sent terminate/)).toBeVisible()
    await expect(canvas.getByRole("button", { name: /Could not kill process 7f3a9c01: The process has ended already/ })).toBeVisible()
    await expect(canvas.getByRole("button", { name: /Ending process 7f3a9c01 Stopped/ })).toBeVisible()
  },
}
