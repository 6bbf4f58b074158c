// Watchgate's plugin for OpenCode. Written by `watchgate install opencode`: do not edit it, a new
// installation replaces it, and `watchgate uninstall opencode` removes it.
//
// A tool call runs only when the hook client says so: an allow, or nothing (left to OpenCode's own
// rules), and ends with the status that only the whole client ends with. A denial, a client that is
// missing, damaged, crashes, is killed or answers anything else all throw, which OpenCode tells the
// model. What OpenCode itself asks is put to the core as well, and the
// first answer counts. Everything else is only reported, and never waited for.

import { spawn } from "node:child_process"
import { existsSync, lstatSync } from "node:fs"
import { connect } from "node:net"
import { dirname } from "node:path"

const SETUP = {}

const NOT_A_PERSON = "This is not a refusal by a person. Do not try another way; stop and report."
const OUTPUT_LIMIT_BYTES = 8 << 20
const FRAME_LIMIT_BYTES = 4 << 20
const FRAME_LIMIT_MS = 5000
const FAREWELL_MS = 3000
const QUEUE_LIMIT = 1000
const KEPT = 2000
const TEXT_LIMIT = 16000
const BEFORE = "tool.execute.before"

// A map that forgets its oldest entries.
class Recent extends Map {
  set(key, value) {
    super.delete(key)
    super.set(key, value)
    if (this.size > KEPT) this.delete(this.keys().next().value)
    return this
  }
}

// Frames for the core, one after the other and none waited for by OpenCode.
class Reports {
  constructor(socket) {
    this.socket = socket
    this.waiting = []
    this.dropped = 0
    this.busy = false
  }

  add(name, payload) {
    this.keep({ name, payload })
  }

  // Runs something once everything added so far was sent.
  then(work) {
    this.keep({ work })
  }

  keep(next) {
    this.waiting.push(next)
    if (this.waiting.length > QUEUE_LIMIT) {
      const oldest = this.waiting.findIndex((each) => each.payload)
      if (oldest >= 0) this.waiting.splice(oldest, 1)
      this.dropped += 1
    }
    if (!this.busy) this.work()
  }

  async work() {
    this.busy = true
    while (this.waiting.length) {
      if (this.dropped) {
        this.waiting.unshift({ name: "watchgate.dropped", payload: { hook: "watchgate.dropped", output: { dropped: this.dropped } } })
        this.dropped = 0
      }
      const next = this.waiting.shift()
      try {
        if (next.work) next.work()
        else await this.send(next.name, next.payload)
      } catch {}
    }
    this.busy = false
  }

  send(name, payload) {
    // The same demands as the hook client's: nobody else can have put this socket there.
    const place = lstatSync(dirname(this.socket))
    const door = lstatSync(this.socket)
    const own = process.geteuid()
    if ((place.mode & 0o170077) !== 0o040000 || place.uid !== own) return
    if ((door.mode & 0o170000) !== 0o140000 || door.uid !== own) return
    let body = Buffer.from(JSON.stringify(payload))
    let missing = ""
    if (body.length > FRAME_LIMIT_BYTES) {
      missing = `dropped: ${body.length}\n`
      body = Buffer.alloc(0)
    }
    const head = `watchgate/1 opencode observe\nlength: ${body.length}\nevent: ${name}\n${missing}\n`
    return new Promise((resolve) => {
      const core = connect(this.socket)
      const done = () => {
        clearTimeout(limit)
        core.destroy()
        resolve()
      }
      const limit = setTimeout(done, FRAME_LIMIT_MS)
      core.on("error", done).on("close", done)
      // The core ends the connection when it has the frame: so the next one comes after it.
      core.resume().write(Buffer.concat([Buffer.from(head), body]))
    })
  }
}

// Runs the hook client; `ended` resolves to how it ended, never rejects.
function ask(lane, event, payload, template) {
  const args = ["-I", "-S", SETUP.client, SETUP.socket, "opencode", lane, event, String(SETUP.deadline_s), template, "2", "", String(SETUP.passed)]
  let child
  const ended = new Promise((resolve) => {
    const failed = (fault) => resolve({ fault: `could not be run (${fault.code ?? fault.message})` })
    try {
      child = spawn(SETUP.python, args, { stdio: ["pipe", "pipe", "ignore"], cwd: "/" })
    } catch (fault) {
      return failed(fault)
    }
    const out = []
    let size = 0
    child.on("error", failed)
    child.stdout.on("error", () => {}).on("data", (data) => {
      size += data.length
      if (size > OUTPUT_LIMIT_BYTES) child.kill("SIGKILL")
      else out.push(data)
    })
    child.stdin.on("error", () => {})
    child.on("close", (code, signal) =>
      resolve({
        code,
        fault: signal ? `was ended by ${signal}` : "",
        out: Buffer.concat(out).toString().trim(),
      }),
    )
    child.stdin.end(JSON.stringify(payload))
  })
  return { ended, end: () => child?.kill("SIGTERM") }
}

// What the client printed, null for nothing; throws on anything but one JSON object.
function parsed(out) {
  if (out === "") return null
  const value = JSON.parse(out)
  if (value === null || typeof value !== "object" || Array.isArray(value)) throw new Error("no object")
  return value
}

// An answer with the arguments to run with, null to leave them; throws when the call must not run.
function verdict({ code, fault, out }) {
  const broken = (what) => {
    const gone = !existsSync(SETUP.client)
    const mend = gone ? "is missing. Mend it with watchgate install opencode." : `${what}. Mend it with watchgate doctor opencode.`
    return new Error(`watchgate: the hook client ${mend} ${NOT_A_PERSON}`)
  }
  if (fault) throw broken(fault)
  let said
  try {
    said = parsed(out)
  } catch {
    throw broken("gave an answer that cannot be read")
  }
  if (said?.decision === "deny") throw new Error(String(said.reason || `Denied by watchgate. ${NOT_A_PERSON}`))
  if (code !== SETUP.passed) throw broken(`failed with status ${code}`)
  if (said !== null && said.decision !== "allow") throw broken("gave an answer of another form")
  if (said?.args === undefined) return null
  if (said.args === null || typeof said.args !== "object" || Array.isArray(said.args)) throw broken("gave no arguments to run with")
  return said
}

// A read that nobody forbade goes on: this lane fails open unless the profile is strict.
function verdictOnRead(ended) {
  let said = null
  try {
    said = parsed(ended.out ?? "")
  } catch {}
  if (said?.decision === "deny") throw new Error(String(said.reason || "Denied by watchgate."))
  return ended.fault || ended.code !== SETUP.passed || said === null ? null : verdict(ended)
}

const later = (ms) => new Promise((resolve) => setTimeout(resolve, ms).unref())
const cut = (text) => (typeof text === "string" && text.length > TEXT_LIMIT ? text.slice(0, TEXT_LIMIT) : text)

export const Watchgate = async ({ client, directory, serverUrl }) => {
  const headless = process.argv.slice(1).includes("run")
  const reports = new Reports(SETUP.socket)
  const sessions = new Recent()
  const calls = new Recent()
  const refused = new Recent()
  const told = new Recent()
  const completed = new Recent()
  const asking = new Map()

  // Who a session works for, and what it is: a sub-agent is shown under the session at the top.
  const about = (id) => {
    const mine = sessions.get(id)
    let top = mine?.parent
    for (let depth = 0; top && sessions.get(top)?.parent && depth < 20; depth++) top = sessions.get(top).parent
    return { directory, headless, ...(top ? { parent: top, agent: mine.agent || "" } : {}) }
  }

  const report = (name, payload, session, more = {}) => reports.add(name, { ...payload, watchgate: { ...about(session), ...more } })

  const hold = (key, session, asked) => {
    asking.set(key, { session, end: asked.end })
    return asked.ended.finally(() => asking.delete(key))
  }

  // Nothing of this session is waited for any more.
  const withdrawAll = (session) => {
    for (const each of [...asking.values()]) if (each.session === session) each.end()
  }

  const post = async (path, body) => {
    const sent = { url: path, headers: { "Content-Type": "application/json" }, ...(body ? { body } : {}) }
    try {
      const answer = await client._client.post(sent)
      if (!answer.error) return
      if (answer.response) throw Object.assign(new Error(`status ${answer.response.status}`), { status: answer.response.status })
      throw new Error(String(answer.error))
    } catch (fault) {
      if (fault.status) throw fault
      const headers = { "Content-Type": "application/json", "x-opencode-directory": encodeURIComponent(directory) }
      const password = process.env.OPENCODE_SERVER_PASSWORD
      const user = process.env.OPENCODE_SERVER_USERNAME || "opencode"
      if (password) headers.Authorization = `Basic ${Buffer.from(`${user}:${password}`).toString("base64")}`
      const answer = await fetch(new URL(path, serverUrl), { method: "POST", headers, body: body && JSON.stringify(body) })
      if (!answer.ok) throw Object.assign(new Error(`status ${answer.status}`), { status: answer.status })
    }
  }

  // What to post for a permission or a question; null to leave it to OpenCode's own dialog.
  const reply = (event, { code, fault, out }) => {
    if (fault || code !== SETUP.passed || !out) return null
    const said = parsed(out)
    const path = `/${event.type.split(".")[0]}/${event.properties.id}`
    if (event.type === "permission.asked" && (said.reply === "once" || said.reply === "reject"))
      return [`${path}/reply`, said.message ? { reply: said.reply, message: String(said.message) } : { reply: said.reply }]
    if (event.type === "question.asked" && Array.isArray(said.answers)) return [`${path}/reply`, { answers: said.answers }]
    if (event.type === "question.asked" && said.reject === true) return [`${path}/reject`, undefined]
    return null
  }

  const relay = async (event) => {
    const { id, sessionID, tool } = event.properties
    const call = calls.get(tool?.callID)
    const known = { ...about(sessionID), ...(call && event.type === "permission.asked" ? { tool: call.tool, input: call.args } : {}) }
    told.set(id, { call, callID: tool?.callID })
    const payload = { type: event.type, properties: event.properties, watchgate: known }
    // `opencode run` refuses by itself whatever would ask, before anybody could answer.
    if (headless || SETUP.lanes[event.type] !== "relay") return reports.add(event.type, payload)
    const ended = await hold(id, sessionID, ask("relay", event.type, payload, ""))
    const answer = reply(event, ended)
    if (!answer) return
    told.set(id, { ...told.get(id), ours: true })
    try {
      await post(...answer)
    } catch (fault) {
      // Somebody else was first, and OpenCode knows the question no more.
      if (fault.status === 404) return
      report("watchgate.unreplied", { hook: "watchgate.unreplied", input: { sessionID, id }, output: { error: String(fault.message) } }, sessionID)
    }
  }

  const replied = (event) => {
    const { requestID, sessionID } = event.properties
    const asked = told.get(requestID)
    const rejected = event.properties.reply === "reject"
    if (rejected && asked?.callID) refused.set(asked.callID, true)
    const call = event.type === "permission.replied" && asked?.call ? { call_id: asked.callID, tool: asked.call.tool, input: asked.call.args } : {}
    report(event.type, event, sessionID, call)
    if (!asked?.ours) reports.then(() => asking.get(requestID)?.end())
    told.delete(requestID)
  }

  const part = (event) => {
    const { part: one } = event.properties
    if (one.type === "text" && one.time?.end && one.text) {
      const short = { ...one, text: cut(one.text) }
      return report(event.type, { type: event.type, properties: { ...event.properties, part: short } }, one.sessionID)
    }
    // What ran to its end is told by tool.execute.after, with the arguments that it ran with.
    if (one.type !== "tool" || one.state.status !== "error") return
    const call = calls.get(one.callID)
    const state = { ...one.state, input: call?.args ?? one.state.input, error: cut(one.state.error) }
    report(event.type, { type: event.type, properties: { ...event.properties, part: { ...one, state } } }, one.sessionID, { refused: refused.has(one.callID) })
    calls.delete(one.callID)
  }

  const learn = (info) => {
    const before = sessions.get(info.id)
    sessions.set(info.id, { parent: info.parentID, agent: info.agent, cost: info.cost ?? 0 })
    return before?.cost !== info.cost
  }

  const cost = (id) => {
    const top = about(id).parent ?? id
    let sum = 0
    for (const [each, session] of sessions) if ((about(each).parent ?? each) === top) sum += session.cost
    return sum
  }

  const heard = (event) => {
    const props = event.properties ?? {}
    const plain = (more) => report(event.type, { type: event.type, properties: props }, props.sessionID ?? props.info?.id, more)
    switch (event.type) {
      case "permission.asked":
      case "question.asked":
        relay(event).catch(() => {})
        return
      case "permission.replied":
      case "question.replied":
      case "question.rejected":
        return replied(event)
      case "session.created":
        learn(props.info)
        return plain()
      case "session.updated":
        if (learn(props.info) && props.info.cost) plain({ cost_usd: cost(props.info.id) })
        return
      case "session.deleted":
        plain()
        withdrawAll(props.info?.id ?? props.sessionID)
        sessions.delete(props.info?.id ?? props.sessionID)
        return
      case "session.idle":
      case "session.error":
        plain()
        reports.then(() => withdrawAll(props.sessionID))
        return
      case "message.updated":
        if (props.info.role !== "assistant" || !props.info.time?.completed || completed.has(props.info.id)) return
        completed.set(props.info.id, true)
        return plain()
      case "message.part.updated":
        return part(event)
      default:
        if (SETUP.lanes[event.type]) plain()
    }
  }

  return {
    // OpenCode waits for this before it ends: the last events are still on their way then.
    dispose: async () => {
      for (const each of asking.values()) each.end()
      await Promise.race([new Promise((resolve) => reports.then(resolve)), later(FAREWELL_MS)])
    },

    event: async ({ event }) => {
      try {
        heard(event)
      } catch {}
    },

    "chat.message": async (input, output) => {
      try {
        const parts = output.parts.filter((each) => each.type === "text").map((each) => ({ type: "text", text: cut(each.text) }))
        report("chat.message", { hook: "chat.message", input: { sessionID: input.sessionID }, output: { parts } }, input.sessionID)
      } catch {}
    },

    [BEFORE]: async (input, output) => {
      const { tool, sessionID, callID } = input
      const lane = SETUP.reads.includes(tool) ? SETUP.lanes.read : SETUP.lanes[BEFORE]
      const payload = { hook: BEFORE, input, output, watchgate: about(sessionID) }
      const call = { tool, args: structuredClone(output.args) }
      calls.set(callID, call)
      if (lane === "observe") {
        call.began = Date.now()
        return reports.add(BEFORE, payload)
      }
      const closes = lane === "gate" || SETUP.strict
      const ended = await hold(callID, sessionID, ask(lane, BEFORE, payload, closes ? SETUP.closed : ""))
      let edit
      try {
        edit = closes ? verdict(ended) : verdictOnRead(ended)
      } catch (denial) {
        refused.set(callID, true)
        throw denial
      }
      if (edit) {
        for (const key of Object.keys(output.args)) delete output.args[key]
        Object.assign(output.args, edit.args)
        call.args = structuredClone(edit.args)
        call.words = edit.context
      }
      call.began = Date.now()
    },

    "tool.execute.after": async (input, output) => {
      try {
        const began = calls.get(input.callID)?.began
        const took = began ? { took_ms: Date.now() - began } : {}
        const exit = output.metadata?.exit
        const result = { output: cut(output.output), metadata: typeof exit === "number" ? { exit } : {} }
        report("tool.execute.after", { hook: "tool.execute.after", input, output: result }, input.sessionID, took)
        // The model reads the result alone: so what else there is to say to it stands there.
        const words = calls.get(input.callID)?.words
        if (typeof words === "string") output.output = `${output.output}\n\n[watchgate] ${words}`
        calls.delete(input.callID)
      } catch {}
    },
  }
}
