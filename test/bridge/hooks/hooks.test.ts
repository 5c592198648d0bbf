/** Hooks that run as small programs, which a stand-in for the sandbox starts. The sandbox itself: hooks.test.ts of flow. */
import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { findHooks } from '../../../bridge/hooks/find.ts';
import { type HookRun, Hooks } from '../../../bridge/hooks/hooks.ts';
import { writeTrusted } from '../../../bridge/hooks/trust.ts';
import { type Confinement, unconfined } from '../../../packages/sandbox/launch/confinement.ts';
import { temporaryFolder, temporaryWorkspace } from '../tools/temporary-workspace.ts';

const CLAUDE = '.claude/settings.json';
const DENY = 'echo "not here" >&2; exit 2';

it('a trusted hook reads the call and forbids it; an untrusted one does not run', async () => {
  const at = await hooked({ [CLAUDE]: settings('cat > seen.json; exit 2') });
  expect(await at.judge('run_terminal_cmd', { command: 'ls' })).toBeUndefined();
  await at.trust();
  expect(await at.judge('run_terminal_cmd', { command: 'ls' })).toEqual({
    decision: 'deny',
    reason: `A hook of ${CLAUDE} says deny: it gives no reason`,
  });
  expect(JSON.parse(await at.text('seen.json'))).toMatchObject({
    tool_name: 'Bash',
    tool_input: { command: 'ls' },
    hook_event_name: 'PreToolUse',
  });
  expect(at.runs.map(({ answer }) => answer.decision)).toEqual(['deny']);
});

it.each([
  ['its matcher', settings(DENY, 'Bash'), 'run_terminal_cmd', 'deny'],
  ['one of two names', settings(DENY, 'Edit|Bash'), 'run_terminal_cmd', 'deny'],
  ['a part of its name alone', settings(DENY, 'Ba'), 'run_terminal_cmd', undefined],
  ['a pattern', settings(DENY, '^(Ba|Zs)+h?'), 'run_terminal_cmd', 'deny'],
  ['another tool', settings(DENY, 'Edit'), 'run_terminal_cmd', undefined],
  ['a broken pattern', settings(DENY, '['), 'run_terminal_cmd', 'deny'],
])('a hook is about calls by %s', async (_, text, tool, decision) => {
  const at = await hooked({ [CLAUDE]: text });
  await at.trust();
  expect((await at.judge(tool, { command: 'ls' }))?.decision).toBe(decision);
});

it('a hook of Cursor is about commands by their text', async () => {
  const hook = { command: DENY, matcher: 'curl|wget' };
  const at = await hooked({
    '.cursor/hooks.json': JSON.stringify({ version: 1, hooks: { beforeShellExecution: [hook] } }),
  });
  await at.trust();
  expect(await at.judge('run_terminal_cmd', { command: 'ls' })).toBeUndefined();
  expect(await at.judge('run_terminal_cmd', { command: 'x; curl y' })).toMatchObject({
    decision: 'deny',
    reason: expect.stringContaining('not here'),
  });
});

it.each([
  ['hangs', 'sleep 60', 'it did not end in time'],
  ['floods', 'yes', 'it printed too much'],
  ['fails', 'echo oops >&2; exit 1', 'it ended with exit code 1'],
  ['is not there', './none.sh', 'it ended with exit code 127'],
  ['rewrites its input', `echo '${rewriting()}'`, 'it wants another input'],
])('a hook that %s asks', async (_, command, reason) => {
  const at = await hooked({
    [CLAUDE]: settings(command, '*', command.startsWith('sleep') ? 0.3 : 20),
  });
  await at.trust();
  expect(await at.judge('run_terminal_cmd', { command: 'ls' })).toEqual({
    decision: 'ask',
    reason: expect.stringContaining(reason),
  });
});

it('a hook that allows changes nothing, and of two the stricter counts', async () => {
  const allow = JSON.stringify({ hookSpecificOutput: { permissionDecision: 'allow' } });
  const at = await hooked({ [CLAUDE]: settings(`echo '${allow}'`) });
  await at.trust();
  expect(await at.judge('run_terminal_cmd', { command: 'ls' })).toBeUndefined();
  await at.put('.codex/hooks.json', settings('exit 3'));
  await at.put('.claude/settings.local.json', settings(DENY));
  await at.trust();
  expect((await at.judge('run_terminal_cmd', { command: 'ls' }))?.decision).toBe('deny');
});

it('a hook that was changed after it was trusted is not run, and calls that change something ask', async () => {
  const at = await hooked({
    [CLAUDE]: settings('"$CLAUDE_PROJECT_DIR"/scripts/check.sh'),
    'scripts/check.sh': '#!/bin/sh\nexit 2\n',
  });
  await at.trust();
  expect((await at.judge('run_terminal_cmd', { command: 'ls' }))?.decision).toBe('deny');
  await at.put('scripts/check.sh', '#!/bin/sh\ntouch ran\nexit 0\n');
  const changed = await at.judge('run_terminal_cmd', { command: 'ls' });
  expect(changed).toEqual({
    decision: 'ask',
    reason: expect.stringContaining('is no longer what you trusted, so it did not run'),
  });
  expect(await at.judge('read_file', { target_file: 'a' })).toBeUndefined();
  await expect(at.text('ran')).rejects.toThrow('ENOENT');
  await at.trust();
  expect(await at.judge('run_terminal_cmd', { command: 'ls' })).toBeUndefined();
  expect(await at.text('ran')).toBe('');
});

it('a hook that was changed while it ran is taken for none', async () => {
  const at = await hooked({
    [CLAUDE]: settings('"$CLAUDE_PROJECT_DIR"/scripts/check.sh'),
    'scripts/check.sh': '#!/bin/sh\necho "exit 0" >> scripts/check.sh\nexit 0\n',
  });
  await at.trust();
  expect(await at.judge('run_terminal_cmd', { command: 'ls' })).toEqual({
    decision: 'ask',
    reason: expect.stringContaining('is no longer what you trusted'),
  });
});

it.each([
  ['there is no sandbox', { kind: 'none' as const }, 'there is none'],
  ['the editor does not trust the folder', { isDistrusted: true }, 'the editor does not trust'],
])('where %s, a trusted hook asks', async (_, options, reason) => {
  const at = await hooked({ [CLAUDE]: settings('exit 0') }, options);
  await at.trust();
  expect(await at.judge('write', { path: 'a', contents: '' })).toEqual({
    decision: 'ask',
    reason: expect.stringContaining(reason),
  });
});

it('where the answer about hooks is damaged, calls that change something ask', async () => {
  const at = await hooked({ [CLAUDE]: settings('exit 0') });
  await writeFile(join(at.stateDir, 'hooks.json'), '{"hooks": [1]}');
  expect((await at.judge('write', { path: 'a', contents: '' }))?.decision).toBe('ask');
  expect(await at.judge('read_file', { target_file: 'a' })).toBeUndefined();
});

it('a cancelled call waits for no hook', async () => {
  const at = await hooked({ [CLAUDE]: settings('sleep 60', '*', 30) });
  await at.trust();
  const cancel = new AbortController();
  const judged = at.judge('write', { path: 'a', contents: '' }, cancel.signal);
  cancel.abort(new Error('cancelled'));
  await expect(judged).rejects.toThrow('cancelled');
});

it('more hooks than are read are named', async () => {
  const hooks = Array.from({ length: 52 }, (_, at) => ({ type: 'command', command: `x${at}` }));
  const at = await hooked({ [CLAUDE]: JSON.stringify({ hooks: { PreToolUse: [{ hooks }] } }) });
  const found = await at.found();
  expect([found.hooks.length, found.idle.length]).toEqual([50, 2]);
  expect(found.idle[0]?.reason).toBe('only 50 hooks are read');
});

it("finds the owner's hooks, and says what of all cannot be read or run", async () => {
  const at = await hooked({
    [CLAUDE]: settings('.claude/hooks/a.py --strict'),
    '.claude/hooks/a.py': 'x',
    '.claude/settings.local.json': '{"hooks": 1}',
    '.cursor/hooks.json': JSON.stringify({ hooks: { stop: [{ command: 'x' }] } }),
  });
  await at.putHome('.codex/hooks.json', settings('~/bin/guard'));
  await at.putHome('bin/guard', 'x');
  expect(await at.found()).toMatchObject({
    hooks: [
      { hook: { source: CLAUDE }, files: ['.claude/hooks/a.py'], isTrusted: false },
      { hook: { source: '~/.codex/hooks.json' }, files: ['~/bin/guard'] },
    ],
    idle: [{ source: '.cursor/hooks.json', event: 'stop' }],
    broken: [{ source: '.claude/settings.local.json', reason: 'it is not in its form' }],
    missing: [],
  });
});

function settings(command: string, matcher?: string, timeout?: number): string {
  const hooks = [{ type: 'command', command, timeout }];
  return JSON.stringify({ hooks: { PreToolUse: [{ matcher, hooks }] } });
}

function rewriting(): string {
  const input = { permissionDecision: 'allow', updatedInput: { command: 'true' } };
  return JSON.stringify({ hookSpecificOutput: input });
}

interface Options {
  readonly kind?: Confinement['kind'];
  readonly isDistrusted?: boolean;
}

/** The hooks of a workspace with these files, and of an empty home folder. */
async function hooked(
  files: Readonly<Record<string, string>>,
  { kind = 'bubblewrap', isDistrusted = false }: Options = {},
) {
  const { root, context, text, path } = await temporaryWorkspace();
  const [stateDir, home] = [await temporaryFolder(), await temporaryFolder()];
  const place = { workspace: context.workspace, stateDir, home };
  const { env: environment } = process;
  const surroundings = { workspace: root, home, closedFolders: [], maskFolder: stateDir };
  const confinement = { ...unconfined({ ...surroundings, environment }, 'a test'), kind };
  const runs: HookRun[] = [];
  const hooks = new Hooks({
    ...place,
    confinement,
    isDistrusted: () => isDistrusted,
    onRun: (run) => runs.push(run),
  });
  const write = async (file: string, content: string) => {
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, content);
    if (content.startsWith('#!')) await chmod(file, 0o755);
  };
  const put = (name: string, content: string) => write(path(name), content);
  for (const [name, content] of Object.entries(files)) await put(name, content);
  const found = () => findHooks(place);
  return {
    runs,
    stateDir,
    text,
    put,
    found,
    putHome: (name: string, content: string) => write(join(home, name), content),
    trust: async () => {
      const time = new Date().toISOString();
      const all = (await found()).hooks.map(({ digest, hook: { source, command } }) => ({
        digest,
        source,
        command,
        time,
      }));
      writeTrusted(stateDir, all);
    },
    judge: (
      tool: string,
      args: Record<string, unknown>,
      signal: AbortSignal = new AbortController().signal,
    ) => {
      const call = { tool, args, root, callId: 'call_test', conversationId: 'conv_test' };
      return hooks.judge(call, { changes: tool !== 'read_file', signal });
    },
  };
}
