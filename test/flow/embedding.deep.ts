import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import type { ChatInput } from '../../client/index.ts';
import { callDrawbridge } from '../cli/called.ts';
import { embeddingsServer } from '../far-ends/embeddings-server.ts';
import { startScriptedModel } from '../far-ends/scripted-model.ts';
import { temporaryFolder } from '../local/temporary-folder.ts';
import { startHouse } from './house.ts';

const KEY = 'sk-of-the-embedder';
const FILES = {
  'zebra.ts': 'export function zebra() {\n  return 1;\n}\n',
  'denied.ts': 'export const unicorn = 2;\n',
  '.env': 'UNICORN=1\n',
};

it('a model of config.json makes vectors of what the rules leave open, and of no private word', async () => {
  const far = await embeddingsServer();
  const settings = temporaryFolder();
  mkdirSync(join(settings, 'drawbridge'));
  writeFileSync(join(settings, 'drawbridge', 'key'), `${KEY}\n`, { mode: 0o600 });
  const embedder = { baseUrl: far.baseUrl, roles: ['embed'], key: { file: 'key' } };
  const models = [{ id: 'talker' }, { id: 'concepts', ...embedder }];
  const config = JSON.stringify({ models });
  writeFileSync(join(settings, 'drawbridge', 'config.json'), config, { mode: 0o600 });
  const search = { name: 'codebase_search', arguments: { query: 'striped animal' } };
  const model = await startScriptedModel((_, number) =>
    number % 2 === 0 ? { calls: [search] } : { text: 'Found.' },
  );
  onTestFinished(() => model.close());
  await using house = await startHouse({
    modelUrl: model.baseUrl,
    variables: { XDG_CONFIG_HOME: settings, PRIVATE_MODELS: '*' },
    rules: [{ tool: 'read', pattern: 'denied.ts', decision: 'deny' }],
    prepare: (workspace) => {
      for (const [name, text] of Object.entries(FILES)) writeFileSync(join(workspace, name), text);
    },
  });
  const status = async () => {
    const here = ['--workspace', house.workspace, '--state', house.state];
    return (await callDrawbridge(['status', ...here])).stdout;
  };
  await expect
    .poll(status, { interval: 300 })
    .toContain(`with vectors by ${new URL(far.baseUrl).origin}`);
  const chat = async (content: string, more: Partial<ChatInput> = {}) => {
    const { documents } = await house.client.chat({
      messages: [{ role: 'user', content }],
      ...more,
    });
    return JSON.stringify(documents);
  };
  const hidden = await chat('wildebeest of the savanna plains', { deleteAfterHours: 1 });
  expect(hidden).not.toContain('meaning');
  expect(JSON.stringify(far.sent)).not.toMatch(/striped|wildebeest|unicorn/i);
  const shown = await chat('grasslands of the savanna animals');
  expect(shown).toMatch(/zebra\.ts:1-3.*found by the words and the meaning of the question/);
  expect(far.texts()).toContain('grasslands of the savanna animals');
  expect(new Set(far.authorizations)).toEqual(new Set([`Bearer ${KEY}`]));
  const doctor = await callDrawbridge(['doctor', '--workspace', house.workspace], {
    env: { XDG_CONFIG_HOME: settings },
  });
  const texts = [house.log(), await status(), doctor.stdout, ...logsIn(house.state)];
  expect(texts.join()).not.toContain(KEY);
  expect(doctor.stdout).toContain('gets the text of the indexed files');
});

function logsIn(state: string): string[] {
  const folder = join(state, 'logs');
  const files = readdirSync(folder, { recursive: true, withFileTypes: true });
  return files
    .filter((file) => file.isFile())
    .map((file) => readFileSync(join(file.parentPath, file.name), 'utf8'));
}
