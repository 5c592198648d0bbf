import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CHROMIUM, NO_CHROMIUM } from '../browser/chromium.ts';
import type { ScriptedCall, ScriptedRequest } from '../far-ends/reply-script.ts';
import { type ScriptedAnswer, startScriptedModel } from '../far-ends/scripted-model.ts';
import { type Allowed, sendAllowing } from '../flow/allowing.ts';
import { type House, startHouse, until } from '../flow/house.ts';
import { type ForeignPackages, installPackages, NO_REGISTRY } from './foreign-packages.ts';
import { row } from './table.ts';

const VERSION = '0.0.83';
const NAVIGATE = 'mcp_playwright_browser_navigate';
const SNAPSHOT = 'mcp_playwright_browser_snapshot';
const TYPE = 'mcp_playwright_browser_type';
const CLICK = 'mcp_playwright_browser_click';
const STEPS = [NAVIGATE, SNAPSHOT, TYPE, CLICK, SNAPSHOT];

/** Greets by the name that is typed into it, which only a browser with scripts can see. */
const PAGE = `<!doctype html><title>Greeter</title>
<label>Your name <input id="name"></label>
<button onclick="document.querySelector('output').textContent =
  'Good morning, ' + document.querySelector('#name').value">Greet</button>
<output></output>`;

const stated = row({
  suite: 'MCP server: @playwright/mcp',
  version: VERSION,
  notRun: NO_REGISTRY ?? NO_CHROMIUM,
});

describe('browser-use with the Playwright MCP server', stated, () => {
  let packages: ForeignPackages;
  let model: Awaited<ReturnType<typeof startScriptedModel>>;
  let house: House;
  let page: Awaited<ReturnType<typeof servePage>>;

  beforeAll(async () => {
    packages = await installPackages([`@playwright/mcp@${VERSION}`]);
    page = await servePage();
    model = await startScriptedModel((request) => answerOf(request, page.url));
    house = await startHouse({ modelUrl: model.baseUrl, isOfBridge: true });
    mkdirSync(house.state, { recursive: true });
    const playwright = {
      command: packages.program('playwright-mcp'),
      args: ['--headless', '--isolated', '--no-sandbox', '--executable-path', CHROMIUM],
    };
    writeFileSync(join(house.state, 'mcp.json'), JSON.stringify({ mcpServers: { playwright } }));
    await until(async () => {
      await sendAllowing(house, 'Hello');
      return toolsOf(model.requests.at(-1)).includes(NAVIGATE);
    });
  });
  afterAll(async () => {
    await house[Symbol.asyncDispose]();
    await model.close();
    await page[Symbol.asyncDispose]();
    await packages[Symbol.asyncDispose]();
  });

  it('fills in a page and reads it, each step as the person allows it, or a rule of the owner', async () => {
    const first = await sendAllowing(house, 'Greet Ada in the browser.');
    expect(resultOf(first)).toEqual({
      status: 'success',
      data: 'The page says: Good morning, Ada',
    });
    expect(first.asked.map(({ proposal }) => proposal)).toMatchObject(
      STEPS.map((tool) => ({ kind: 'call', tool, offer: { server: 'playwright' } })),
    );
    const [subagent, ...others] = new Set(first.asked.map(({ conversationId }) => conversationId));
    expect(others).toEqual([]);
    expect(subagent).not.toBe(first.response.conversationId);
    const requests = model.requests.filter(isOfSubagent);
    expect(toolsOf(requests.at(-1))).toContain('read_file');
    expect(toolsOf(requests.at(-1))).not.toContain('run_terminal_cmd');

    const rules = first.asked.flatMap(({ proposal }) => {
      if (proposal.kind !== 'call' || !proposal.offer) return [];
      const { server, tool, definition } = proposal.offer;
      const pattern = `${server}/${tool}`;
      return [{ tool: `mcp:${server}`, pattern, decision: 'allow', definition }];
    });
    writeFileSync(join(house.state, 'policy.json'), JSON.stringify({ rules }));
    await until(async () => {
      const { response, asked } = await sendAllowing(house, 'Greet Ada in the browser.');
      expect(response.status).toBe('completed');
      return asked.length === 0;
    });
    const last = await sendAllowing(house, 'Greet Ada in the browser.');
    expect([resultOf(last), last.asked]).toEqual([resultOf(first), []]);
  });
});

function resultOf({ response }: Allowed): unknown {
  return response.documents[0]?.metadata['result'];
}

/** The subagent types into the field that the page's snapshot names, as a model would. */
function answerOf(request: ScriptedRequest, url: string): ScriptedAnswer {
  const { messages } = request;
  const last = String(messages.at(-1)?.content);
  if (!isOfSubagent(request))
    return last.includes('Greet Ada') ? { calls: [TASK] } : { text: 'Over.' };
  const turn = messages.filter(({ role }) => role === 'assistant').length;
  const refOf = (element: string) => {
    const sent = messages.map(({ content }) => String(content)).join('\n');
    return new RegExp(`${element} \\[ref=(\\w+)\\]`).exec(sent)?.[1];
  };
  const calls: readonly ScriptedCall[] = [
    { name: NAVIGATE, arguments: { url } },
    { name: SNAPSHOT, arguments: {} },
    { name: TYPE, arguments: { target: refOf('textbox "Your name"'), text: 'Ada' } },
    { name: CLICK, arguments: { target: refOf('button "Greet"') } },
    { name: SNAPSHOT, arguments: {} },
  ];
  const call = calls[turn];
  const greeting = /Good morning, \w+/.exec(last)?.[0];
  return call ? { calls: [call] } : { text: `The page says: ${greeting}` };
}

const PROMPT = 'Open the greeter, fill in the name, and say what the page says.';
const TASK = {
  name: 'task',
  arguments: {
    description: 'Greet Ada',
    prompt: PROMPT,
    subagent_type: 'browser-use',
  },
};

function isOfSubagent({ messages }: ScriptedRequest): boolean {
  return messages.some(({ role, content }) => role === 'user' && String(content).includes(PROMPT));
}

function toolsOf(request: ScriptedRequest | undefined): string {
  return JSON.stringify(request?.tools ?? []);
}

async function servePage() {
  const server = createServer((_, response) => {
    response.setHeader('content-type', 'text/html').end(PAGE);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    [Symbol.asyncDispose]: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
