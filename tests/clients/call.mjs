// One call by the TypeScript SDK 1.x, which checks results against the tool's output schema:
// node call.mjs TOOL ARGUMENTS COMMAND ARGUMENT...

import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";

const [name, given, command, ...args] = process.argv.slice(2);
const client = new Client({ name: "call", version: "1" });
await client.connect(new StdioClientTransport({ command, args }));
await client.listTools();
console.log(JSON.stringify(await client.callTool({ name, arguments: JSON.parse(given) })));
await client.close();
