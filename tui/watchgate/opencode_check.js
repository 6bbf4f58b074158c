// Watchgate's second plugin for OpenCode. Written by `watchgate install opencode`: do not edit it, a
// new installation replaces it, and `watchgate uninstall opencode` removes it.
//
// OpenCode passes over a plugin that it cannot load, without a word, and every call runs. This one
// looks once, when OpenCode starts, whether the first one beside it is the one that was installed;
// where it is not, each call that would have been asked about throws.

import { createHash } from "node:crypto"
import { readFileSync } from "node:fs"

const SETUP = {}

function isWhole() {
  try {
    const plugin = readFileSync(new URL(SETUP.plugin, import.meta.url))
    return createHash("sha256").update(plugin).digest("hex") === SETUP.digest
  } catch {
    return false
  }
}

export const WatchgateCheck = async () => {
  if (!SETUP.gates || isWhole()) return {}
  return {
    "tool.execute.before": async ({ tool }) => {
      if (!SETUP.free.includes(tool)) throw new Error(SETUP.closed)
    },
  }
}
