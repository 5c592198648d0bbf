import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { framesOf } from '../far-ends/reply-script.ts';
import { type ScriptedModel, startScriptedModel } from '../far-ends/scripted-model.ts';
import { type House, startHouse } from '../flow/house.ts';
import {
  type ForeignPackages,
  foreignClone,
  installPackages,
  NO_REGISTRY,
} from './foreign-packages.ts';
import { leftBecause, row } from './table.ts';

/** The schemas of the suite are made for it. */
const ZOD = 'zod@3.25.76';
const SUITE = 'src/lib/compliance-tests.ts';
const CLONE = await foreignClone('OPEN_RESPONSES', 'openresponses/openresponses', SUITE);

const NO_SOCKET = 'the way over a WebSocket, which `/v1/responses` has not';
const NO_COMPACTION = '`/v1/responses/compact`: the server itself compacts a long conversation';

/** The suite's tests, each with the reason why it does not pass; null for one that passes. */
const TESTS: Readonly<Record<string, string | null>> = {
  'basic-response': null,
  'assistant-phase': null,
  'streaming-response': null,
  'system-prompt': null,
  'tool-calling': null,
  'image-input': null,
  'multi-turn': null,
  'websocket-response': NO_SOCKET,
  'websocket-sequential-responses': NO_SOCKET,
  'websocket-continuation': NO_SOCKET,
  'websocket-reconnect-store-false-recovery': NO_SOCKET,
  'websocket-previous-response-not-found': NO_SOCKET,
  'websocket-failed-continuation-evicts-cache': NO_SOCKET,
  'websocket-compact-new-chain': NO_SOCKET,
  'compact-response': NO_COMPACTION,
  'compact-missing-model': NO_COMPACTION,
};

/** Asks no server, but the suite's own schema. */
const OF_NO_SERVER = 'response-output-phase-schema';

/** Reasoning has items and events of its own. */
const delta = { reasoning_content: 'Let me think.' };
const THOUGHT = `data: ${JSON.stringify({ choices: [{ index: 0, delta }] })}\n\n`;

const CUT = `data: ${JSON.stringify({
  choices: [{ index: 0, delta: {}, finish_reason: 'length' }],
})}\n\ndata: [DONE]\n\n`;
const BROKEN = 'data: {"error":{"message":"It broke.","code":"server_error"}}\n\n';

const ENTRY = `
export { runAllTests, testTemplates } from './${SUITE}';
export { parseSSEStream } from './src/lib/sse-parser.ts';`;

interface Suite {
  /** With an error for each event that the published schema refuses. */
  readonly parseSSEStream: (response: Response) => Promise<{
    readonly events: readonly { readonly data: unknown }[];
    readonly errors: readonly string[];
  }>;
  readonly testTemplates: readonly { readonly id: string }[];
  readonly runAllTests: (
    config: object,
    onProgress: () => void,
    templates: Suite['testTemplates'],
  ) => Promise<readonly { readonly status: string; readonly errors?: readonly string[] }[]>;
}

const facts = { version: CLONE.version || '-', notRun: NO_REGISTRY ?? CLONE.notRun };
const stated = row({ suite: 'Open Responses', ...facts });
/** What its own tests ask for no stream of. */
const streams = row({ suite: 'Open Responses, schema of other streams', ...facts });

/** The suite checks every answer and every event by its published schema. */
describe('the suite of Open Responses', { skip: facts.notRun !== undefined }, () => {
  let packages: ForeignPackages;
  let model: ScriptedModel;
  let house: House;
  let suite: Suite;

  beforeAll(async () => {
    packages = await installPackages([ZOD]);
    const outfile = join(packages.folder, 'suite.mjs');
    await build({
      stdin: { contents: ENTRY, resolveDir: CLONE.folder },
      nodePaths: [join(packages.folder, 'node_modules')],
      bundle: true,
      format: 'esm',
      platform: 'node',
      outfile,
      tsconfigRaw: {},
    });
    suite = await import(pathToFileURL(outfile).href);
    model = await startScriptedModel(({ messages, tools = [] }) => {
      const isOffered = tools.some((tool) => tool.function.name === 'get_weather');
      if (isOffered && messages.at(-1)?.role === 'user')
        return { calls: [{ name: 'get_weather', arguments: { location: 'San Francisco' } }] };
      const asked = JSON.stringify(messages.at(-1));
      const words = framesOf({ text: 'Half of it' });
      if (asked.includes('cut it')) return { frames: [...words.slice(0, 2), CUT] };
      if (asked.includes('break it')) return { frames: [...words.slice(0, 2), BROKEN] };
      return { frames: [THOUGHT, ...framesOf({ text: 'Ahoy, it is four.', chunkChars: 3 })] };
    });
    house = await startHouse({ modelUrl: model.baseUrl });
  });
  afterAll(async () => {
    await house?.[Symbol.asyncDispose]();
    await model?.close();
    await packages?.[Symbol.asyncDispose]();
  });

  it('has a row here for each test', () => {
    const known = [...Object.keys(TESTS), OF_NO_SERVER];
    expect(suite.testTemplates.map(({ id }) => id).sort()).toEqual(known.sort());
  });

  describe('over HTTP', stated, () => {
    for (const [id, reason] of Object.entries(TESTS)) {
      it(id, leftBecause(reason), async () => {
        const templates = suite.testTemplates.filter((each) => each.id === id);
        const { url, token } = house.ready;
        const config = {
          baseUrl: `${url}/v1`,
          apiKey: token,
          authHeaderName: 'Authorization',
          useBearerPrefix: true,
          model: 'scripted',
          runtime: 'server',
        };
        const [result] = await suite.runAllTests(config, () => {}, templates);
        const outcome = result?.status === 'passed' ? [] : (result?.errors ?? ['no result']);
        if (reason === null) expect(outcome).toEqual([]);
        else expect(outcome).not.toEqual([]);
      });
    }
  });

  describe('other streams', streams, () => {
    const weather = {
      type: 'function',
      name: 'get_weather',
      parameters: { type: 'object', properties: { location: { type: 'string' } } },
    };

    it.each([
      ['the call of a function', { input: 'weather', tools: [weather] }, 'completed'],
      ['an answer that was cut', { input: 'cut it' }, 'incomplete'],
      ['a run that fails', { input: 'break it' }, 'failed'],
    ])('%s', async (_, body, ending) => {
      const response = await house.fetch('/v1/responses', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ model: 'scripted', stream: true, ...body }),
      });
      const { events, errors } = await suite.parseSSEStream(response);
      expect(errors).toEqual([]);
      const types = events.map(({ data }) => Object(data).type);
      expect(types.at(-1)).toBe(`response.${ending}`);
      const isCalling = types.includes('response.function_call_arguments.done');
      expect(isCalling).toBe('tools' in body);
    });
  });
});
