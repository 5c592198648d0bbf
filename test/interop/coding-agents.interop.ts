/** Coding agents of others, as they come from the registry, with Drawbridge as their model server: ten turns each. */
import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ScriptedRequest } from '../far-ends/reply-script.ts';
import { type ScriptedAnswer, startScriptedModel } from '../far-ends/scripted-model.ts';
import { type House, startHouse } from '../flow/house.ts';
import { type ForeignPackages, installPackages } from './foreign-packages.ts';

const PACKAGES = ['@openai/codex@0.171', '@qwen-code/qwen-code@0.24'];
const PNG =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

/** Calls the tool that the newest words name, as `CALL name {…} END`, and then says what came of it. */
function answerOf({ messages, tools = [] }: ScriptedRequest): ScriptedAnswer {
  const last = messages.at(-1);
  if (last?.role === 'tool') return { text: `It said: ${textOf(last.content).slice(0, 200)}` };
  const asked = messages
    .filter(({ role }) => role === 'user')
    .map(({ content }) => textOf(content));
  const words = asked.join('\n').replaceAll('\\"', '"');
  const [, name = '', args = '{}'] = [...words.matchAll(/CALL (\w+) (\{.*?\}) END/gs)].at(-1) ?? [];
  const isOffered = tools.some((tool) => tool.function.name === name);
  const isNew = asked.at(-1)?.includes('CALL') ?? false;
  if (isNew && isOffered) return { calls: [{ name, arguments: JSON.parse(args) }] };
  return { text: `Answer ${asked.length}.` };
}

function textOf(content: unknown): string {
  if (typeof content === 'string') return content;
  return (Array.isArray(content) ? content : []).map((part) => Object(part).text ?? '').join('');
}

/** A program in a folder of its own, with a home of its own. Each call is one turn, after the first in the same session. */
interface Terminal {
  readonly folder: string;
  say(words: string): Promise<string>;
}

describe('ten turns', () => {
  let packages: ForeignPackages;
  let model: Awaited<ReturnType<typeof startScriptedModel>>;
  let house: House;
  const folders: string[] = [];

  beforeAll(async () => {
    packages = await installPackages(PACKAGES);
    model = await startScriptedModel(answerOf);
    house = await startHouse({ modelUrl: model.baseUrl });
  });
  afterAll(async () => {
    await house[Symbol.asyncDispose]();
    await model.close();
    await packages[Symbol.asyncDispose]();
    for (const folder of folders) rmSync(folder, { recursive: true, force: true });
  });

  function open(
    begin: (words: string) => string[],
    goOn: (words: string) => string[],
    program: string,
    env: (home: string) => NodeJS.ProcessEnv,
  ): Terminal {
    const home = mkdtempSync(join(tmpdir(), 'drawbridge-agent-'));
    const folder = join(home, 'project');
    folders.push(home);
    mkdirSync(folder);
    writeFileSync(join(folder, 'note.txt'), 'hello\n');
    writeFileSync(join(folder, 'x.png'), Buffer.from(PNG, 'base64'));
    let turns = 0;
    return {
      folder,
      say: (words) => {
        const args = turns++ === 0 ? begin(words) : goOn(words);
        const variables = {
          ...process.env,
          HOME: home,
          XDG_CONFIG_HOME: join(home, '.config'),
          XDG_DATA_HOME: join(home, '.local'),
          XDG_STATE_HOME: join(home, '.state'),
          XDG_CACHE_HOME: join(home, '.cache'),
          ...env(home),
        };
        return run(program, args, { cwd: folder, env: variables });
      },
    };
  }

  /** Plain words and calls by turns, each answered; the calls have done what they say. */
  async function tenTurns(
    terminal: Terminal,
    read: (path: string) => string,
    write: (path: string, text: string) => string,
  ) {
    for (let turn = 1; turn <= 10; turn++) {
      const path = join(terminal.folder, `made-${turn}.txt`);
      if (turn % 3 === 0) {
        await terminal.say(`${write(path, `turn ${turn}`)} Turn ${turn}.`);
        expect(readFileSync(path, 'utf8')).toBe(`turn ${turn}`);
      } else if (turn % 3 === 2) {
        expect(await terminal.say(`${read('note.txt')} Turn ${turn}.`)).toContain('hello');
      } else {
        expect(await terminal.say(`Say something. Turn ${turn}.`)).toMatch(/Answer \d+\./);
      }
    }
    const newest = JSON.stringify(model.requests.at(-1));
    expect(newest).toContain('Turn 1.');
    expect(newest).not.toContain('LEFT_OUT');
  }

  const call = (name: string, args: object) => `CALL ${name} ${JSON.stringify(args)} END`;

  it('of Codex, with its commands, a picture, and a session that goes on', async () => {
    const flags = ['--skip-git-repo-check', '--dangerously-bypass-approvals-and-sandbox'];
    const terminal = open(
      (words) => ['exec', ...flags, words],
      (words) => ['exec', 'resume', '--last', ...flags, words],
      packages.program('codex'),
      (home) => ({ CODEX_HOME: join(home, 'codex'), DRAWBRIDGE_TOKEN: house.ready.token }),
    );
    const config = [
      'model = "m"',
      'model_provider = "drawbridge"',
      '[model_providers.drawbridge]',
      'name = "Drawbridge"',
      `base_url = "${house.ready.url}/v1"`,
      'env_key = "DRAWBRIDGE_TOKEN"',
      'wire_api = "responses"',
    ];
    const home = join(terminal.folder, '..', 'codex');
    mkdirSync(home);
    writeFileSync(join(home, 'config.toml'), config.join('\n'));
    await tenTurns(
      terminal,
      (path) => call('exec_command', { cmd: `cat ${path}` }),
      (path, text) => call('exec_command', { cmd: `printf '%s' '${text}' > '${path}'` }),
    );
    await terminal.say(`${call('view_image', { path: join(terminal.folder, 'x.png') })} Look.`);
    expect(JSON.stringify(model.requests.at(-1))).toContain('data:image/png;base64');
    expect(await terminal.say('Say something more.')).toMatch(/Answer \d+\./);
  });

  it('of Qwen Code, with its files and commands', async () => {
    const flags = ['--auth-type', 'openai', '-y'];
    const terminal = open(
      (words) => [...flags, '-p', words],
      (words) => [...flags, '--continue', '-p', words],
      packages.program('qwen'),
      () => ({
        OPENAI_API_KEY: house.ready.token,
        OPENAI_BASE_URL: `${house.ready.url}/v1`,
        OPENAI_MODEL: 'm',
      }),
    );
    await tenTurns(
      terminal,
      (path) => call('run_shell_command', { command: `cat ${path}`, is_background: false }),
      (file_path, content) => call('write_file', { file_path, content }),
    );
  });
});

/** All that the program prints. @throws with it where the program fails, or takes longer than two minutes. */
function run(
  program: string,
  args: readonly string[],
  options: { readonly cwd: string; readonly env: NodeJS.ProcessEnv },
): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = execFile(
      program,
      args,
      { ...options, timeout: 120_000, maxBuffer: 16 * 1024 * 1024 },
      (error, stdout, stderr) => {
        const printed = `${stdout}\n${stderr}`;
        if (error) reject(new Error(`${program}: ${error.message}\n${printed}`));
        else resolve(printed);
      },
    );
    child.stdin?.end();
  });
}
