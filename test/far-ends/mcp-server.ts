/** An MCP server on stdio with a tool for each thing a server can do. Run by Node with TypeScript. */
import { appendFileSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { McpServer, ResourceTemplate } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import * as z from 'zod';

const server = new McpServer({ name: 'fixture', version: '1.2.3' }, { instructions: 'Be brief.' });
const text = (said: string) => ({ content: [{ type: 'text' as const, text: said }] });

server.registerTool(
  'echo',
  {
    title: 'Echo',
    description: 'Says it again.',
    inputSchema: { words: z.string() },
    annotations: { readOnlyHint: true },
  },
  ({ words }) => text(words),
);
server.registerTool('surroundings', { description: 'Where it runs.' }, () =>
  text(JSON.stringify({ cwd: process.cwd(), env: process.env, pid: process.pid })),
);
server.registerTool('steps', { description: 'Reports its progress.' }, async (extra) => {
  const { progressToken } = extra._meta ?? {};
  for (let progress = 1; progress <= 3 && progressToken !== undefined; progress++) {
    const params = { progressToken, progress, total: 3, message: `step ${progress}` };
    await extra.sendNotification({ method: 'notifications/progress', params });
    await sleep(300);
  }
  return text('all steps');
});
server.registerTool(
  'wait',
  { description: 'Waits until it is cancelled.', inputSchema: { file: z.string() } },
  async ({ file }, { signal }) => {
    appendFileSync(file, 'called\n');
    await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
    appendFileSync(file, 'cancelled\n');
    return text('never seen');
  },
);
server.registerTool('roots', { description: 'What it may work on.' }, async () =>
  text(JSON.stringify(await server.server.listRoots())),
);
server.registerTool('fail', { description: 'Fails.' }, () => ({
  ...text('no such ticket'),
  isError: true,
}));
server.registerTool('die', { description: 'Ends the server.' }, () => process.exit(3));
server.registerTool(
  'die_once',
  {
    description: 'Ends the server at its first call.',
    inputSchema: { file: z.string() },
    annotations: { idempotentHint: true },
  },
  ({ file }) => {
    appendFileSync(file, 'called\n');
    if (readFileSync(file, 'utf8') === 'called\n') process.exit(3);
    return text('alive');
  },
);
server.registerTool(
  'print',
  { description: 'Returns much.', inputSchema: { bytes: z.number() } },
  ({ bytes }) => text('x'.repeat(bytes)),
);
server.registerTool('mixed', { description: 'Returns all kinds.' }, () => ({
  content: [
    { type: 'text', text: 'first' },
    { type: 'image', data: Buffer.from('12345').toString('base64'), mimeType: 'image/png' },
    { type: 'resource', resource: { uri: 'note://1', text: 'the note' } },
    { type: 'resource_link', uri: 'note://2', name: 'another note' },
  ],
}));
server.registerTool('garbage', { description: 'Prints what is no message.' }, async () => {
  process.stdout.write('Listening on port 80\n{"jsonrpc": "1.0"}\nnull\n');
  console.error('something to complain about');
  return text('still here');
});
server.registerTool('learn', { description: 'Learns a tool.' }, () => {
  server.registerTool('learned', { description: 'New.' }, () => text('learned'));
  return text('ok');
});
const form = {
  type: 'object',
  properties: {
    seat: {
      type: 'string',
      oneOf: [
        { const: 'w', title: 'Window' },
        { const: 'a', title: 'Aisle' },
      ],
    },
    bags: { type: 'integer', minimum: 0, maximum: 3, default: 1 },
    meal: { type: 'boolean', title: 'A meal?' },
  },
  required: ['seat', 'meal'],
} as const;
server.registerTool('book', { description: 'Asks for details.' }, async () => {
  const requestedSchema = structuredClone(form) as never;
  const asked = { message: 'How do you want to travel?', requestedSchema };
  const answered = await server.server.elicitInput(asked);
  return text(JSON.stringify(answered));
});
server.registerResource(
  'a note',
  'note://1',
  { description: 'The first one.', mimeType: 'text/plain' },
  (uri) => ({ contents: [{ uri: uri.href, text: 'the first note' }] }),
);
server.registerResource(
  'any note',
  new ResourceTemplate('note://{number}', { list: undefined }),
  {},
  (uri) => ({ contents: [{ uri: uri.href, text: `a note from ${uri.href}` }] }),
);
server.registerPrompt(
  'greet',
  { title: 'Greet', description: 'Greets a person.', argsSchema: { name: z.string() } },
  ({ name }) => ({
    messages: [{ role: 'user', content: { type: 'text', text: `Greet ${name} warmly.` } }],
  }),
);
await server.connect(new StdioServerTransport());
