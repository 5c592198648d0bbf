/** Skills, commands and hooks of a workspace, from the file to the model, with the real bridge and its sandbox. */
import { chmodSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it, vi } from 'vitest';
import { readAudit } from '../../bridge/grantees/audit.ts';
import { findHooks } from '../../bridge/hooks/find.ts';
import { writeTrusted } from '../../bridge/hooks/trust.ts';
import { NO_BUBBLEWRAP } from '../../packages/sandbox/test/sandboxed-workspace.ts';
import { Workspace } from '../../packages/workspace/workspace.ts';
import { newSession, openEditor, prompt } from './acp-editor.ts';
import { sendAllowing } from './allowing.ts';
import { oneHouse } from './one-house.ts';

const at = oneHouse({
  prepare: (workspace) => {
    const put = (name: string, text: string) => {
      mkdirSync(dirname(join(workspace, name)), { recursive: true });
      writeFileSync(join(workspace, name), text);
    };
    put('.agents/skills/fix/SKILL.md', '---\nname: fix\ndescription: Fixes\n---\nLook first.');
    put('.agents/skills/fix/references/more.md', 'More to read.');
    put('.claude/commands/greet.md', 'Greet $ARGUMENTS kindly.');
    put('.claude/settings.json', HOOKS);
    put('scripts/guard.sh', GUARD);
    chmodSync(join(workspace, 'scripts/guard.sh'), 0o755);
  },
});

const HOOKS = JSON.stringify({
  hooks: {
    PreToolUse: [{ matcher: 'Bash', hooks: [{ type: 'command', command: './scripts/guard.sh' }] }],
  },
});
const GUARD = '#!/bin/sh\ngrep -q forbidden && { echo "Not that one." >&2; exit 2; }\nexit 0\n';

it('a model activates a skill, whose text it gets once, and reads a file that it names', async () => {
  const { house } = at;
  const activate = { calls: [{ name: 'activate_skill', arguments: { name: 'fix' } }] };
  at.answerWith([
    activate,
    { calls: [{ name: 'activate_skill', arguments: { name: 'fix', file: 'references/more.md' } }] },
    activate,
    { text: 'Fixed.' },
  ]);
  const { conversationId, status } = await house.client.chat({
    messages: [{ role: 'user', content: 'fix it' }],
  });
  expect(status).toBe('completed');
  const sent = JSON.stringify(at.requests().at(-1)?.messages);
  expect(sent).toContain('<available_skills>\\nfix: Fixes\\n</available_skills>');
  expect([sent.split('Look first.').length, sent.split('More to read.').length]).toEqual([2, 2]);
  expect(sent).toContain('active already');
  const { skills } = await house.client.getRules(conversationId);
  expect(skills.map(({ name, state }) => [name, state])).toEqual([
    ['fix', 'active'],
    ['greet', 'unused'],
  ]);
});

it('a person calls a command with words of their own', async () => {
  const { house } = at;
  at.answerWith([{ text: 'Hello.' }]);
  await house.client.chat({ messages: [{ role: 'user', content: '/greet Ada and Bob' }] });
  expect(at.requests()[0]?.messages.at(-1)?.content).toContain(
    '<command>\n/greet\n.claude/commands/greet.md\n\nGreet Ada and Bob kindly.\n</command>',
  );
});

it.skipIf(NO_BUBBLEWRAP)(
  'a hook runs once it is trusted, and forbids a command; a changed one does not run, and its calls ask',
  async () => {
    const { house } = at;
    const run = (command: string) => ({
      calls: [{ name: 'run_terminal_cmd', arguments: { command } }],
    });
    const say = async (command: string) => {
      at.answerWith([run(command), { text: 'Done.' }]);
      return await house.client.chat({ messages: [{ role: 'user', content: 'go' }] });
    };
    await say('touch forbidden.1');
    expect(existsSync(join(house.workspace, 'forbidden.1'))).toBe(true);
    await trustAll();
    const refused = await say('touch forbidden.2');
    expect(refused.documents[0]).toMatchObject({
      metadata: {
        result: {
          status: 'error',
          data: expect.stringContaining('A hook of .claude/settings.json says deny: Not that one.'),
        },
      },
    });
    expect(existsSync(join(house.workspace, 'forbidden.2'))).toBe(false);
    await say('touch allowed');
    expect(existsSync(join(house.workspace, 'allowed'))).toBe(true);
    writeFileSync(join(house.workspace, 'scripts/guard.sh'), '#!/bin/sh\nexit 0\n');
    const asked = await say('touch forbidden.3');
    expect(asked.status).toBe('waiting');
    expect(existsSync(join(house.workspace, 'forbidden.3'))).toBe(false);
    await house.client.cancel(asked.id);
    at.answerWith([run('touch forbidden.4'), { text: 'Done.' }]);
    const allowed = await sendAllowing(house, 'go');
    expect(allowed.asked).toHaveLength(1);
    expect(existsSync(join(house.workspace, 'forbidden.4'))).toBe(true);
    const records = await readAudit(house.state);
    const hooks = records.flatMap((record) => (record.type === 'hook' ? [record] : []));
    expect(hooks.map(({ decision, source }) => [decision, source])).toEqual([
      ['deny', '.claude/settings.json'],
      ['none', '.claude/settings.json'],
    ]);
  },
);

/** What `drawbridge hooks trust` does after a person's yes. */
async function trustAll(): Promise<void> {
  const workspace = await Workspace.open(at.house.workspace);
  const { hooks } = await findHooks({ workspace, stateDir: at.house.state });
  const time = new Date().toISOString();
  writeTrusted(
    at.house.state,
    hooks.map(({ digest, hook: { source, command } }) => ({ digest, source, command, time })),
  );
}

it('an editor offers skills and commands in its menu, and what is called reaches the model', async () => {
  const editor = await openEditor(at.house);
  const id = await newSession(editor, at.house);
  await vi.waitFor(() => {
    const menu = editor.of(id, 'available_commands_update').at(-1)?.availableCommands;
    expect(menu?.map(({ name }) => name)).toEqual(['undo', 'redo', 'execute', 'fix', 'greet']);
  });
  at.answerWith([{ text: 'Dear Ada.' }]);
  expect(await prompt(editor, id, '/greet Ada')).toBe('end_turn');
  expect(JSON.stringify(at.requests().at(-1)?.messages)).toContain('Greet Ada kindly.');
});
