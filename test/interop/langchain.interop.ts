import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ScriptedModel, startScriptedModel } from '../far-ends/scripted-model.ts';
import { type House, startHouse } from '../flow/house.ts';
import { answerOf, asCall, hasPicture, PNG_URL, requestsWith } from './foreign-agents.ts';
import { type ForeignPackages, installPackages, NO_REGISTRY } from './foreign-packages.ts';
import { row } from './table.ts';

const VERSION = '1.5.14';
const PACKAGES = [
  `langchain@${VERSION}`,
  '@langchain/openai@1.6.0',
  '@langchain/core@1.4.0',
  '@langchain/langgraph@1.7.3',
  'zod@4.4.3',
];

/** A small agent as LangChain's documentation makes it, with its state in a checkpointer. */
describe.each([
  ['Chat Completions', false],
  ['Responses', true],
])(
  'an agent of LangChain over %s',
  row({ suite: 'LangChain', version: VERSION, notRun: NO_REGISTRY }),
  (_, useResponsesApi) => {
    let packages: ForeignPackages;
    let model: ScriptedModel;
    let house: House;
    // biome-ignore lint/suspicious/noExplicitAny: the types of packages that are installed by the test.
    let lib: any;
    // biome-ignore lint/suspicious/noExplicitAny: as above.
    let checkpointer: any;

    beforeAll(async () => {
      packages = await installPackages(PACKAGES);
      model = await startScriptedModel(answerOf);
      house = await startHouse({ modelUrl: model.baseUrl });
      const { resolve } = createRequire(join(packages.folder, 'index.js'));
      const load = async (name: string) => await import(pathToFileURL(resolve(name)).href);
      const names = ['langchain', '@langchain/openai', '@langchain/langgraph', 'zod'];
      lib = Object.assign({}, ...(await Promise.all(names.map(load))));
      checkpointer = new lib.MemorySaver();
    });
    afterAll(async () => {
      await house?.[Symbol.asyncDispose]();
      await model?.close();
      await packages?.[Symbol.asyncDispose]();
    });

    /** Another agent each time, as after another start of the app: only the checkpointer knows what was said. */
    function openAgent(
      thread: string,
      tools: readonly unknown[],
      middleware: readonly unknown[] = [],
    ) {
      const chat = new lib.ChatOpenAI({
        model: 'scripted',
        apiKey: house.ready.token,
        configuration: { baseURL: `${house.ready.url}/v1` },
        useResponsesApi,
      });
      const agent = lib.createAgent({ model: chat, tools, middleware, checkpointer });
      const config = { configurable: { thread_id: thread } };
      const ask = async (input: unknown, options: object = {}) => {
        const { messages } = await agent.invoke(input, { ...config, ...options });
        return messages.at(-1).text;
      };
      return {
        agent,
        config,
        ask,
        say: (content: unknown) => ask({ messages: [{ role: 'user', content }] }),
      };
    }

    function orderTool(stateOf: (order: string, signal?: AbortSignal) => unknown) {
      const its = {
        name: 'order_state',
        description: 'The state of an order.',
        schema: lib.z.object({ order: lib.z.string() }),
      };
      return lib.tool(
        ({ order }: { readonly order: string }, { signal }: { readonly signal?: AbortSignal }) =>
          stateOf(order, signal),
        its,
      );
    }

    it('works for ten turns with its own tool, with a picture, each in a thread that goes on', async () => {
      const tools = [orderTool((order) => `order ${order} is on its way`)];
      for (let turn = 1; turn <= 10; turn++) {
        const { agent, config, say } = openAgent('ten', tools);
        if (turn % 3 === 2) {
          expect(await say(`${asCall('order_state', { order: `${turn}` })} Turn ${turn}.`)).toBe(
            `It said: order ${turn} is on its way`,
          );
        } else if (turn % 3 === 1) {
          expect(await say(`Say turn${turn}.`)).toBe(`Heard turn${turn}.`);
        } else {
          const content = `${asCall('order_state', { order: `${turn}` })} Turn ${turn}.`;
          const input = { messages: [{ role: 'user', content }] };
          let said = '';
          for await (const [piece] of await agent.stream(input, {
            ...config,
            streamMode: 'messages',
          })) {
            if (piece.type === 'ai') said += piece.text;
          }
          expect(said).toBe(`It said: order ${turn} is on its way`);
        }
      }
      const newest = JSON.stringify(requestsWith(model, 'Say turn10.').at(-1));
      for (const earlier of ['turn1', 'Turn 2.', 'order 8 is on its way', 'order 9 is on its way'])
        expect(newest).toContain(earlier);

      const { say } = openAgent('ten', tools);
      const picture = { type: 'image_url', image_url: { url: PNG_URL } };
      expect(await say([{ type: 'text', text: 'Say seen.' }, picture])).toBe('Heard seen.');
      expect(hasPicture(requestsWith(model, 'Say seen.').at(-1))).toBe(true);
      expect(await say('Say behind.')).toBe('Heard behind.');
    });

    it('gives the model a picture that its tool returns', async () => {
      const content = [
        { type: 'text', text: 'a photo' },
        { type: 'image_url', image_url: { url: PNG_URL } },
      ];
      const { say } = openAgent('photo', [orderTool(() => content)]);
      expect(await say(asCall('order_state', { order: '1' }))).not.toBe('');
      expect(hasPicture(model.requests.at(-1))).toBe(true);
      expect(await say('Say behind.')).toBe('Heard behind.');
    });

    it('takes a message that comes while its tool runs, behind the result', async () => {
      const waiting: object[] = [];
      const steering = lib.createMiddleware({
        name: 'Steering',
        beforeModel: () => ({ messages: waiting.splice(0) }),
      });
      const tool = orderTool(() => {
        waiting.push({ role: 'user', content: 'Say meanwhile.' });
        return 'it is late';
      });
      const { say } = openAgent('steered', [tool], [steering]);
      expect(await say(asCall('order_state', { order: '1' }))).toBe('Heard meanwhile.');
      expect(JSON.stringify(requestsWith(model, 'Say meanwhile.').at(-1))).toContain('it is late');
      expect(await say('Say after.')).toBe('Heard after.');
    });

    it('goes on from its checkpoint when it ended in the middle of a call', async () => {
      const { promise: begun, resolve: begin } = Promise.withResolvers<void>();
      const endless = orderTool((_, signal) => {
        begin();
        return new Promise((_, reject) =>
          signal?.addEventListener('abort', () => reject(new Error('ended'))),
        );
      });
      const ending = new AbortController();
      const messages = [{ role: 'user', content: asCall('order_state', { order: '1' }) }];
      const cut = openAgent('cut', [endless]).ask({ messages }, { signal: ending.signal });
      await begun;
      ending.abort();
      await expect(cut).rejects.toThrow();
      const { ask, say } = openAgent('cut', [orderTool(() => 'found again')]);
      expect(await ask(null)).toBe('It said: found again');
      expect(await say('Say after.')).toBe('Heard after.');
    });
  },
);
