/** A language server of a few lines: `BAD` is an error and `ODD` a warning. Its mode says how it behaves. */
import { onTestFinished } from 'vitest';
import {
  carryOut,
  temporaryWorkspace,
  toolsWith,
} from '../../../test/bridge/tools/temporary-workspace.ts';
import type { ToolContext } from '../../host/tool.ts';
import { type Program, spawnLaunch } from '../../sandbox/terminal/spawn-launch.ts';
import { checkingShape, EditChecks } from '../edit-checks.ts';
import type { BeginProgram } from '../language-server.ts';
import { LanguageServers, type ServersPlace } from '../servers.ts';
import { createReadLints } from '../tool.ts';
import { checkPatiently } from './patient-checks.ts';

const SCRIPT = `
const { readFileSync } = require('node:fs');
const { fileURLToPath } = require('node:url');
const mode = process.argv[1];
const texts = new Map();
let asked = 0;
const print = (message) => {
  const body = JSON.stringify({ jsonrpc: '2.0', ...message });
  process.stdout.write('Content-Length: ' + Buffer.byteLength(body) + '\\r\\n\\r\\n' + body);
};
const findingsIn = (text) => text.split('\\n').flatMap((line, at) =>
  ['BAD', 'ODD'].flatMap((word, index) => {
    const character = line.indexOf(word);
    const start = { line: at, character };
    return character < 0 ? [] : [{ range: { start, end: start }, severity: index + 1, code: line.includes('MODULE') ? 2307 : 7, source: 'ts', message: word + ' is here' }];
  }));
const publish = (uri, version) => setTimeout(() => print({ method: 'textDocument/publishDiagnostics',
  params: { uri, ...(mode === 'push' && { version }), diagnostics: findingsIn(texts.get(uri) ?? '') } }), 10);
const take = ({ id, method, params }) => {
  if (mode === 'mute') return;
  if (method === 'initialize') {
    if (mode === 'gone') process.exit(127);
    if (mode === 'garbage') process.stdout.write('hello\\n'.repeat(2_000));
    if (mode === 'long') process.stdout.write('Content-Length: 99999999999\\r\\n\\r\\n');
    if (mode === 'flood') setInterval(() => { for (let i = 0; i < 2_000; i++) print({ method: 'note', params: {} }); }, 0);
    if (mode === 'asks') for (let i = 0; i < 50; i++) print({ id: 'q' + i, method: i % 2 ? 'workspace/configuration' : 'unknown', params: { items: [{}, {}] } });
    const canPull = !/^(push|vague|silent|late)$/.test(mode);
    print({ id, result: { capabilities: canPull ? { diagnosticProvider: {} } : {}, serverInfo: { name: 'scripted', version: mode === 'verbose' ? '{"Go": "1.2"}' : '1' } } });
    if (mode === 'late') print({ id: 'r', method: 'client/registerCapability', params: { registrations: [{ id: '1', method: 'textDocument/diagnostic' }] } });
    return;
  }
  const { uri } = params?.textDocument ?? {};
  if (method === 'textDocument/didOpen' || method === 'textDocument/didChange') {
    if (mode === 'crash') { console.error('out of luck'); process.exit(3); }
    texts.set(uri, params.textDocument.text ?? params.contentChanges[0].text);
    if (mode === 'push' || mode === 'vague') publish(uri, params.textDocument.version);
  }
  if (method === 'textDocument/didClose') texts.delete(uri);
  if (method !== 'textDocument/diagnostic') return;
  if (mode === 'hung') return;
  if (mode === 'wrong') return print({ id, result: { kind: 'full', items: 'none' } });
  if (mode === 'moody' && asked++ % 2 === 0) return print({ id, error: { code: -32802, message: 'again' } });
  if (mode === 'refusing') return print({ id, error: { code: -32603, message: 'no' } });
  const isGone = mode === 'forgetful' && !texts.has(uri);
  if (isGone) return print({ id, error: { code: -32603, message: 'no such file' } });
  const text = texts.get(uri) ?? (mode === 'reads' ? readFileSync(fileURLToPath(uri), 'utf8') : '');
  print({ id, result: { kind: 'full', items: findingsIn(text) } });
};
let bytes = Buffer.alloc(0);
process.stdin.on('data', (chunk) => {
  bytes = Buffer.concat([bytes, chunk]);
  for (;;) {
    const end = bytes.indexOf('\\r\\n\\r\\n');
    if (end < 0) return;
    const length = Number(/\\d+/.exec(bytes.subarray(0, end).toString())[0]);
    if (bytes.length < end + 4 + length) return;
    const body = bytes.subarray(end + 4, end + 4 + length).toString();
    bytes = bytes.subarray(end + 4 + length);
    take(JSON.parse(body));
  }
});
setInterval(() => {}, 1_000);
`;

/** Starts it without a sandbox. `started` gets each program. */
export function scripted(mode: string, started: Program[] = []): BeginProgram {
  return async () => {
    const launch = { file: process.execPath, args: ['-e', SCRIPT, mode], cwd: '/', env: {} };
    const program = spawnLaunch({ ...launch, inputs: [], hasPidNamespace: false }, 'pipe');
    started.push(program);
    return program;
  };
}

/** What the scripted server is for. */
export const KIND = { name: 'typescript', files: { '.ts': 'typescript' }, command: 'scripted' };

/** With these a check waits for its limit. */
const UNANSWERED: ReadonlySet<string> = new Set(['mute', 'hung', 'silent']);

/** A workspace whose edits the scripted server checks. */
export async function checkedWorkspace(
  mode: string,
  files: Readonly<Record<string, string>> = {},
  more: Partial<ServersPlace> = {},
) {
  if (!UNANSWERED.has(mode)) checkPatiently();
  const workspace = await temporaryWorkspace(files);
  const started: Program[] = [];
  const servers = new LanguageServers({
    root: workspace.root,
    begin: scripted(mode, started),
    readChoice: async () => ({ state: 'known', kinds: [KIND] }),
    whyNot: () => undefined,
    ...more,
  });
  onTestFinished(() => servers.end());
  const tools = toolsWith([createReadLints(servers)], [checkingShape(new EditChecks(servers))]);
  const call = (
    tool: string,
    args: Record<string, unknown>,
    changes: Partial<ToolContext> = {},
  ) => {
    const found = tools.get(tool);
    if (found === undefined) throw new Error(`no tool ${tool}`);
    return carryOut(found, args, { ...workspace.context, ...changes });
  };
  return { ...workspace, call, servers, started, tools };
}
