// The TypeScript SDK 1.x: node sdk1.mjs URL, or node sdk1.mjs COMMAND ARGUMENT...

import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";

import { converse } from "./conversation.mjs";

const [target, ...args] = process.argv.slice(2);
const transport = target.startsWith("http")
  ? new StreamableHTTPClientTransport(new URL(target))
  : new StdioClientTransport({ command: target, args });
const client = new Client({ name: "sdk1", version: "1" });
await client.connect(transport);
await converse(client);
