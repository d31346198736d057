// The TypeScript client 2.x: node sdk2.mjs REVISION URL, or node sdk2.mjs REVISION COMMAND ARGUMENT...
// The revision is legacy, auto or a date.

import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";

import { converse } from "./conversation.mjs";

const [revision, target, ...args] = process.argv.slice(2);
const transport = target.startsWith("http")
  ? new StreamableHTTPClientTransport(new URL(target))
  : new StdioClientTransport({ command: target, args });
const mode = /^\d/.test(revision) ? { pin: revision } : revision;
const client = new Client({ name: "sdk2", version: "1" }, { versionNegotiation: { mode } });
await client.connect(transport);
await converse(client);
