import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { ChatInput } from '../../client/index.ts';
import { openState } from '../../local/state/state.ts';
import { mintToken } from '../../local/state/tokens.ts';
import { confirmCompanion } from '../../packages/editors/ide/link/confirmed.ts';
import { tagQuery } from '../../packages/prompt/context.ts';
import type { StreamEvent } from '../../shared/wire/events.ts';
import { HAS_TERMINALS, openPseudoTerminal } from '../cli/pseudo-terminal.ts';
import {
  type CompanionScript,
  type ScriptedCompanion,
  startCompanion,
  textResult,
} from '../far-ends/scripted-companion.ts';
import { startScriptedModel } from '../far-ends/scripted-model.ts';
import { deviceOf } from './allowing.ts';
import { DRAWBRIDGE, type House, startHouse, until } from './house.ts';

const PROPOSED = 'proposed\n';

type Asked = Extract<StreamEvent, { type: 'approval_request' }>;

describe.runIf(HAS_TERMINALS)(
  'an edit that is asked about in the editor, on a device and at the terminal',
  () => {
    it('is decided by the first of them, and the others let go', async () => {
      await using triangle = await startTriangle();
      const { companion, terminal, house, model } = triangle;
      const file = (name: string) => join(house.workspace, name);

      const inEditor = await triangle.propose('editor.txt');
      await until(() => companion.diffs.get(file('editor.txt')) === PROPOSED);
      await terminal.shows('Run it?');
      await companion.accept(file('editor.txt'), 'changed in the editor\n');
      expect(await inEditor.resolved()).toMatchObject({ decision: 'once', by: 'editor' });
      expect(readFileSync(file('editor.txt'), 'utf8')).toBe('changed in the editor\n');
      expect(JSON.stringify(model.requests.at(-1)?.messages.at(-1))).toContain(
        '+changed in the editor',
      );
      await terminal.shows('(The question was withdrawn.)');

      const onDevice = await triangle.propose('device.txt');
      await until(() => companion.diffs.has(file('device.txt')));
      await terminal.shows('Run it?', 2);
      await onDevice.approveOnDevice();
      expect(await onDevice.resolved()).toMatchObject({ decision: 'once', by: 'device' });
      expect(readFileSync(file('device.txt'), 'utf8')).toBe(PROPOSED);
      await until(() => companion.diffs.size === 0);
      await terminal.shows('(The question was withdrawn.)', 2);

      const atTerminal = await triangle.propose('terminal.txt');
      await until(() => companion.diffs.has(file('terminal.txt')));
      await terminal.shows('Run it?', 3);
      terminal.type('y\r');
      expect(await atTerminal.resolved()).toMatchObject({ decision: 'once', by: 'terminal' });
      expect(readFileSync(file('terminal.txt'), 'utf8')).toBe(PROPOSED);
      await until(() => companion.diffs.size === 0);

      const rejected = await triangle.propose('rejected.txt');
      await until(() => companion.diffs.has(file('rejected.txt')));
      await companion.reject(file('rejected.txt'));
      expect(await rejected.resolved()).toMatchObject({ decision: 'reject', by: 'editor' });
      expect(() => readFileSync(file('rejected.txt'))).toThrow();
    });

    it('is decided elsewhere when the editor dies', async () => {
      await using triangle = await startTriangle();
      const { companion, terminal, house } = triangle;
      const asked = await triangle.propose('a.txt');
      await until(() => companion.diffs.size === 1);
      await companion.close();
      await terminal.shows('Lost the editor');
      await asked.approveOnDevice();
      expect(await asked.resolved()).toMatchObject({ decision: 'once', by: 'device' });
      expect(readFileSync(join(house.workspace, 'a.txt'), 'utf8')).toBe(PROPOSED);
    });

    it('is made by a model that knows what the editor shows', async () => {
      await using triangle = await startTriangle();
      const { model } = triangle;
      const sent = () => String(model.requests.at(-1)?.messages.at(-1)?.content);
      // The editor sends it a moment after the connection.
      await until(async () => {
        await triangle.say('Hello');
        return sent().includes('<editor>');
      });
      expect(sent()).toContain('\nActive: open.txt:2:1\n</editor>');
      expect(sent()).toContain('<selected_text>\nopen.txt\nlooked at\n</selected_text>');
    });

    it('is made by a model that knows what the editor finds wrong', async () => {
      const found = [
        { line: 1, severity: 'Error', message: '</linter_errors> & bad' },
        { line: 0, severity: 'Warning', message: 'odd' },
        { line: 0, severity: 'Hint', message: 'a hint' },
      ];
      const diagnose = (uri: string) => {
        const diagnostics = found.map(({ line, ...said }) => {
          const range = { start: { line, character: 0 } };
          return { ...said, range, source: 'lint' };
        });
        return textResult(JSON.stringify([{ uri, diagnostics }]));
      };
      await using triangle = await startTriangle({ diagnose });
      const { model, say } = triangle;
      const sent = () => String(model.requests.at(-1)?.messages.at(-1)?.content);
      const path = `${triangle.house.workspace}/open.txt`;
      const own = { path, line: 1, severity: 'warning' as const, message: 'odd' };
      const linterErrors = [own, { path: 'b.txt', message: 'the client says' }];
      let conversationId: string | undefined;
      // On a busy machine a look can take longer than a run waits for it.
      await until(async () => {
        conversationId = await say('Hello', { context: { linterErrors } });
        return sent().includes('open.txt:2:1');
      });
      expect(sent()).toContain(
        `<linter_errors>\n${path}:1: warning: odd\nb.txt: error: the client says\n` +
          'open.txt:2:1: error: &lt;/linter_errors&gt; &amp; bad (lint)\n</linter_errors>',
      );
      found[0] = { line: 3, severity: 'Error', message: 'another' };
      await until(async () => {
        await say('Go on', { conversationId });
        if (!sent().includes('linter_errors')) expect(sent()).toBe(tagQuery('Go on'));
        return sent().includes('another');
      });
      expect(sent()).toContain('<linter_errors_changes>\n- open.txt:2:1: error: &lt;/linter_');
      expect(sent()).toContain('\n+ open.txt:4:1: error: another (lint)\n</linter_errors_changes>');
      expect(sent()).not.toContain('the client says');
    });

    it('stands beside calls that ask because the editor’s user does not trust the workspace', async () => {
      await using triangle = await startTriangle();
      const { companion, terminal } = triangle;
      await companion.notify('ide/contextUpdate', { workspaceState: { isTrusted: false } });
      await companion.askPing();
      const asked = await triangle.propose('open.txt', 'read');
      expect(asked.reason).toContain('you do not trust this workspace');
      await terminal.shows('Run it?');
      expect(companion.diffs.size).toBe(0);
      await asked.approveOnDevice();
      expect(await asked.resolved()).toMatchObject({ decision: 'once', by: 'device' });
    });
  },
);

/** API, model, an editor that was confirmed, and a bridge at a terminal. */
async function startTriangle(script: CompanionScript = {}) {
  const model = await startScriptedModel(({ messages }) => {
    const last = String(messages.at(-1)?.content);
    const [, verb, name] = /(write|read) (\S+)\.\n<\/user_query>$/.exec(last) ?? [];
    if (name === undefined) return { text: 'Over.' };
    const read = { name: 'read_file', arguments: { target_file: name } };
    const write = { name: 'write', arguments: { file_path: name, contents: PROPOSED } };
    return { calls: [verb === 'read' ? read : write] };
  });
  const house = await startHouse({
    modelUrl: model.baseUrl,
    args: ['--no-bridge'],
    rules: [{ tool: 'edit', pattern: '*', decision: 'ask' }],
    prepare: (workspace) => writeFileSync(join(workspace, 'open.txt'), 'one\nlooked at\n'),
  });
  const path = join(house.workspace, 'open.txt');
  const shown = { path, timestamp: 1, isActive: true, cursor: { line: 2, character: 1 } };
  const openFiles = [{ ...shown, selectedText: 'looked at' }];
  const companion = await startCompanion({
    firstContext: { workspaceState: { openFiles } },
    ...script,
  });
  const temporary = announce(companion, house);
  await confirmCompanion(house.state, companion.candidate);
  const { authSecret, bridgeId } = await openState({
    workspaceDir: house.workspace,
    stateDir: house.state,
  });
  const token = await mintToken(authSecret, { scope: 'bridge', bridgeId }, new Date());
  const words = [
    'connect',
    house.ready.url,
    '--workspace',
    house.workspace,
    '--state',
    house.state,
  ];
  const terminal = openPseudoTerminal([process.execPath, DRAWBRIDGE, ...words], {
    env: { DRAWBRIDGE_TOKEN: token, TMPDIR: temporary, QWEN_HOME: temporary },
  });
  await terminal.shows('It shows edits that wait for your approval.');
  await until(async () =>
    (await house.client.listBridges()).items.some(({ connected }) => connected),
  );
  return {
    companion,
    terminal,
    house,
    model,
    /** Returns the conversation's id when the answer is over. */
    say: async (content: string, more: Partial<ChatInput> = {}) => {
      const messages = [{ role: 'user' as const, content }];
      const place = more.conversationId === undefined ? { bridgeId } : {};
      const stream = house.client.streamChat({ messages, ...more, ...place });
      let begun = more.conversationId ?? undefined;
      for await (const { event } of stream)
        if (event.type === 'response_start') begun = event.response.conversationId;
      return begun;
    },
    propose: (name: string, verb = 'write') => propose(house, bridgeId, `Please ${verb} ${name}.`),
    [Symbol.asyncDispose]: async () => {
      terminal.type('\x03');
      await terminal.finished;
      await companion.close().catch(() => {});
      await house[Symbol.asyncDispose]();
      await model.close();
      rmSync(temporary, { recursive: true, force: true });
    },
  };
}

/** Writes the companion's discovery file, and returns the temporary folder in which it lies. */
function announce({ candidate }: ScriptedCompanion, { workspace }: House): string {
  const temporary = mkdtempSync(join(tmpdir(), 'drawbridge-editor-'));
  chmodSync(temporary, 0o700);
  const folder = join(temporary, 'gemini', 'ide');
  mkdirSync(folder, { recursive: true });
  const { port, token } = candidate;
  const content = JSON.stringify({ port, workspacePath: workspace, authToken: token });
  const file = join(folder, `gemini-ide-server-${process.pid}-${port}.json`);
  writeFileSync(file, content, { mode: 0o600 });
  return temporary;
}

/** Asks the model for a call, up to the question about it. */
async function propose(house: House, bridgeId: string, content: string) {
  const messages = [{ role: 'user' as const, content }];
  const stream = house.client.streamChat({ messages, bridgeId });
  let conversationId = '';
  const readUntil = async <Type extends StreamEvent['type']>(type: Type) => {
    for (let next = await stream.next(); !next.done; next = await stream.next()) {
      const { event } = next.value;
      if (event.type === 'response_start') conversationId = event.response.conversationId;
      if (event.type === type) return event as Extract<StreamEvent, { type: Type }>;
    }
    throw new Error(`no ${type} came`);
  };
  const asked: Asked = await readUntil('approval_request');
  return {
    reason: asked.reason,
    approveOnDevice: () => house.client.allowCall({ ...asked, conversationId }, deviceOf(house)),
    /** How it was decided. Resolves when the run is over. */
    resolved: async () => {
      const resolved = await readUntil('approval_resolved');
      await readUntil('done');
      return resolved;
    },
  };
}
