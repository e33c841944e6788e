import { readdir, readFile, writeFile } from "node:fs/promises"
import { join, resolve } from "node:path"
import { promisify } from "node:util"
import { brotliCompress, constants, gzip } from "node:zlib"
import react from "@vitejs/plugin-react"
import { defineConfig, type Plugin } from "vite"

const built = resolve(import.meta.dirname, "../src/chatd/server/web_app")
const server = process.env["CHATD_URL"] ?? "http://127.0.0.1:7080"

/** Smaller twins of every text file, so that the server compresses nothing while it serves. */
function compressed(): Plugin {
  const text = /\.(js|css|html|svg|webmanifest|json)$/
  return {
    name: "compressed",
    apply: "build",
    async closeBundle() {
      const entries = await readdir(built, { recursive: true, withFileTypes: true })
      const files = entries.filter((entry) => entry.isFile() && text.test(entry.name))
      await Promise.all(
        files.map(async (entry) => {
          const path = join(entry.parentPath, entry.name)
          const content = await readFile(path)
          if (content.length < 1024) return
          const quality = { params: { [constants.BROTLI_PARAM_QUALITY]: 11 } }
          await writeFile(`${path}.br`, await promisify(brotliCompress)(content, quality))
          await writeFile(`${path}.gz`, await promisify(gzip)(content, { level: 9 }))
        }),
      )
    },
  }
}

export default defineConfig({
  plugins: [react(), compressed()],
  build: {
    outDir: built,
    emptyOutDir: true,
    target: "es2023",
    cssTarget: ["chrome125", "firefox128", "safari17.5"],
    assetsInlineLimit: 0,
    chunkSizeWarningLimit: 1000, // a test holds the sizes
    manifest: true,
    rolldownOptions: {
      input: { index: resolve(import.meta.dirname, "index.html"), worker: resolve(import.meta.dirname, "src/worker/worker.ts") },
      output: {
        // The worker's scope is the folder it is served from.
        entryFileNames: (chunk) => (chunk.name === "worker" ? "worker.js" : "assets/[name]-[hash].js"),
        chunkFileNames: "assets/[name]-[hash].js",
        assetFileNames: "assets/[name]-[hash][extname]",
        // What the first picture needs is one file: cut at what later parts share it would be fifty, and a twelfth larger.
        codeSplitting: {
          groups: [{ name: "first", tags: ["$initial"], test: (id) => !id.includes("/src/worker/"), includeDependenciesRecursively: false }],
        },
      },
    },
  },
  server: {
    proxy: { "/api": { target: server, ws: true, changeOrigin: false } },
  },
})
