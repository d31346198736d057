/* An MCP client for a page: Streamable HTTP to the server that the page came from, in the revision with sessions. */

const REVISION = "2025-11-25";

/* As many calls as go out at a time: browsers keep six connections for requests with cookies, and six for those without. */
const TOGETHER = 12;

class Refused extends Error {}
class Unreachable extends Error {}
class SessionEnded extends Error {}

/* `about` is {endpoint, token, name, version, session}; `session` continues one that is open, `lasting` says that its seat outlives it. */
function makeMcp(about) {
  let session = about.session || null;
  let last = 0;
  let reopening = null;

  async function post(message, lane) {
    const headers = { "content-type": "application/json", accept: "application/json, text/event-stream", authorization: "Bearer " + about.token };
    if (session) Object.assign(headers, { "mcp-session-id": session, "mcp-protocol-version": REVISION });
    let response;
    try {
      response = await fetch(about.endpoint, { method: "POST", headers, body: JSON.stringify({ jsonrpc: "2.0", ...message }),
        credentials: lane % 2 ? "omit" : "same-origin", cache: "no-store", redirect: "error" });
    } catch (error) {
      throw new Unreachable(about.lasting ? "The server does not answer: try again in a minute; nothing is lost." : "The server does not answer: is m3bench play still running?");
    }
    if (response.status === 404 && session) throw new SessionEnded("The session has ended, and its task with it.");
    return response;
  }

  /* The message with an id out of a response: one document, or a stream of events. */
  async function answer(response, id) {
    const isStream = (response.headers.get("content-type") || "").startsWith("text/event-stream");
    try {
      if (!isStream) return JSON.parse(await response.text());
      const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
      let text = "";
      for (;;) {
        const { value, done } = await reader.read();
        text = (text + (value || "")).replaceAll("\r\n", "\n");
        const events = text.split("\n\n");
        text = events.pop();
        for (const event of events) {
          const data = event.split("\n").filter((line) => line.startsWith("data:")).map((line) => line.slice(5)).join("\n").trim();
          const message = data ? JSON.parse(data) : {};
          if (message.id === id && message.method === undefined) {
            reader.cancel();
            return message;
          }
        }
        if (done) break;
      }
    } catch (error) {
      throw new Unreachable("The answer of the server did not arrive whole.");
    }
    throw new Unreachable("The server ended its answer before it was whole.");
  }

  /* Where the seat is no session's, as in a study, a session that is gone is only opened anew: what was asked was not heard. */
  async function ask(method, params, lane = 0) {
    try {
      return await askOnce(method, params, lane);
    } catch (error) {
      if (!(error instanceof SessionEnded) || !about.lasting) throw error;
      await (reopening = reopening || open().finally(() => { reopening = null; }));
      return askOnce(method, params, lane);
    }
  }

  async function askOnce(method, params, lane) {
    const id = ++last;
    const response = await post({ id, method, params }, lane);
    const message = await answer(response, id);
    if (message.error) throw new Refused(message.error.message);
    if (!message.result) throw new Refused("The server answered with " + response.status + ".");
    if (method === "initialize") session = response.headers.get("mcp-session-id");
    return message.result;
  }

  async function open() {
    session = null;
    await askOnce("initialize", { protocolVersion: REVISION, capabilities: {}, clientInfo: { name: about.name, version: about.version } }, 0);
    await post({ method: "notifications/initialized" }, 0);
  }

  return {
    get session() { return session; },
    ask,
    open,
    /* Every page of the list of tools. */
    async tools() {
      const found = [];
      let cursor;
      do {
        const page = await ask("tools/list", cursor === undefined ? {} : { cursor });
        found.push(...page.tools);
        cursor = page.nextCursor;
      } while (cursor !== undefined && cursor !== null);
      return found;
    },
    call: (name, args, meta, lane) => ask("tools/call", { name, arguments: args, ...(meta ? { _meta: meta } : {}) }, lane),
    read: (uri) => ask("resources/read", { uri }),
  };
}
