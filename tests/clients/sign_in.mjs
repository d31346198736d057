// A client of the TypeScript SDKs that signs in, plays, and loses its access token in the middle:
// node sign_in.mjs 1|2 URL [together]. It writes where its person has to go, and reads where they came back to.
// With `together` it says when all tokens are to run out: before two calls that it sends side by side.

import { createInterface } from "node:readline/promises";

import { converse } from "./conversation.mjs";

const [sdk, target, together] = process.argv.slice(2);
const { Client, StreamableHTTPClientTransport } =
  sdk === "1"
    ? {
        ...(await import("@modelcontextprotocol/sdk/client/index.js")),
        ...(await import("@modelcontextprotocol/sdk/client/streamableHttp.js")),
      }
    : await import("@modelcontextprotocol/client");

const saved = {};
let back;
let asked = 0;
let sent = 0;
let ranOut;

const input = createInterface({ input: process.stdin });
const say = (line) => {
  console.log(line);
  return input.question("");
};

const provider = {
  redirectUrl: "http://127.0.0.1:7777/callback",
  clientMetadata: {
    client_name: `sdk ${sdk}`,
    redirect_uris: ["http://127.0.0.1:7777/callback"],
    grant_types: ["authorization_code", "refresh_token"],
    response_types: ["code"],
    token_endpoint_auth_method: "none",
  },
  state: () => "state-of-the-client",
  clientInformation: () => saved.client,
  saveClientInformation: (client) => void (saved.client = client),
  tokens: () => saved.tokens,
  saveTokens: (tokens) => {
    asked += 1;
    saved.tokens = tokens;
  },
  saveCodeVerifier: (verifier) => void (saved.verifier = verifier),
  codeVerifier: () => saved.verifier,
  saveDiscoveryState: (state) => void (saved.discovery = state),
  discoveryState: () => saved.discovery,
  redirectToAuthorization: (url) => void (back = say(`GO ${url}`)),
};

// In the middle of the run the server takes the token no more.
const counting = async (url, init) => {
  const isCall = typeof init?.body === "string" && init.body.includes("tools/call");
  if (isCall) sent += 1;
  if (isCall && sent === 3 && !together) init = { ...init, headers: withToken(init.headers, "gone") };
  if (isCall && sent === 2 && together) ranOut = say("EXPIRE");
  if (isCall) await ranOut;
  return fetch(url, init);
};
const withToken = (headers, token) => {
  const changed = new Headers(headers);
  changed.set("authorization", `Bearer ${token}`);
  return changed;
};

const transport = () => new StreamableHTTPClientTransport(new URL(target), { authProvider: provider, fetch: counting });
const opened = () => new Client({ name: `sdk${sdk}`, version: "1" });
const first = transport();
try {
  await opened().connect(first);
  throw new Error("it was let in without signing in");
} catch (error) {
  if (error.constructor.name !== "UnauthorizedError") throw error;
}
const { searchParams } = new URL(await back);
await (sdk === "1" ? first.finishAuth(searchParams.get("code")) : first.finishAuth(searchParams));
const client = opened();
await client.connect(transport());
await converse(client);
console.log(`TOKENS ${asked}`);
process.exit(0);
