/** Coding agents of others for the terminal, as they come from the registry and as docs/apps.md sets them up. */
import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { HAS_TMUX, openTmux } from '../cli/tmux.ts';
import { type ScriptedModel, startScriptedModel } from '../far-ends/scripted-model.ts';
import { type House, type Ready, startHouse, until } from '../flow/house.ts';
import { answerOf, asCall, hasPicture, pictureFile, requestsWith } from './foreign-agents.ts';
import { type ForeignPackages, installPackages, NO_REGISTRY } from './foreign-packages.ts';
import { row } from './table.ts';

/** A program, and what a person writes to it and sees of it. */
interface Agent {
  readonly suite: string;
  readonly npm: string;
  readonly version: string;
  readonly program: string;
  /** The words of its command line: of a first message, and of one more in the same session. */
  readonly begin: (message: string) => readonly string[];
  readonly goOn: (message: string) => readonly string[];
  /** Those of its screen, with the same session. */
  readonly screen: readonly string[];
  readonly variables: (token: string, url: string) => Readonly<Record<string, string>>;
  /** Its settings, by their path in the home. The project's folder is `project`. */
  readonly files: (url: string) => Readonly<Record<string, string>>;
  /** Messages after which a model calls the program's own tools. */
  readonly run: (command: string) => string;
  readonly write: (path: string, text: string) => string;
  /** A message with which a picture comes to the model. */
  readonly show: (path: string) => string;
  /** What its screen says of a message that waits for the call at work. */
  readonly isSteered: RegExp;
}

const NO_TMUX = HAS_TMUX ? undefined : 'skipped: tmux is not installed';
const CODEX_FLAGS = ['--skip-git-repo-check', '--dangerously-bypass-approvals-and-sandbox'];
const QWEN_FLAGS = ['--auth-type', 'openai', '-y'];

const AGENTS: readonly Agent[] = [
  {
    suite: 'opencode',
    npm: 'opencode-ai',
    version: '1.18.33',
    program: 'opencode',
    begin: (message) => ['run', message],
    goOn: (message) => ['run', '--continue', message],
    screen: ['--continue'],
    variables: (token) => ({ DRAWBRIDGE_TOKEN: token }),
    files: (url) => ({
      'project/opencode.json': JSON.stringify({
        provider: {
          drawbridge: {
            npm: '@ai-sdk/openai-compatible',
            options: { baseURL: `${url}/v1`, apiKey: '{env:DRAWBRIDGE_TOKEN}' },
            models: {
              m: {
                attachment: true,
                modalities: { input: ['text', 'image'], output: ['text'] },
                limit: { context: 128_000, output: 8000 },
              },
            },
          },
        },
        model: 'drawbridge/m',
      }),
    }),
    run: (command) => asCall('bash', { command, description: 'Runs it' }),
    write: (filePath, content) => asCall('write', { filePath, content }),
    show: (filePath) => asCall('read', { filePath }),
    isSteered: /QUEUED/,
  },
  {
    suite: 'Codex',
    npm: '@openai/codex',
    version: '0.171.0',
    program: 'codex',
    begin: (message) => ['exec', ...CODEX_FLAGS, message],
    goOn: (message) => ['exec', 'resume', '--last', ...CODEX_FLAGS, message],
    screen: [
      'resume',
      '--last',
      '--include-non-interactive',
      '--dangerously-bypass-approvals-and-sandbox',
    ],
    variables: (token) => ({ DRAWBRIDGE_TOKEN: token }),
    files: (url) => ({
      '.codex/config.toml': [
        'model = "m"',
        'model_provider = "drawbridge"',
        // Keys that come as fast as these would be a paste, in which Enter is a line break.
        'disable_paste_burst = true',
        '[model_providers.drawbridge]',
        'name = "Drawbridge"',
        `base_url = "${url}/v1"`,
        'env_key = "DRAWBRIDGE_TOKEN"',
        'wire_api = "responses"',
      ].join('\n'),
    }),
    run: (cmd) => asCall('exec_command', { cmd, yield_time_ms: 30_000 }),
    write: (path, text) => asCall('exec_command', { cmd: `printf '%s' '${text}' > '${path}'` }),
    show: (path) => asCall('view_image', { path }),
    isSteered: /submitted after next tool call/,
  },
  {
    suite: 'Qwen Code',
    npm: '@qwen-code/qwen-code',
    version: '0.24.4',
    program: 'qwen',
    begin: (message) => [...QWEN_FLAGS, '-p', message],
    goOn: (message) => [...QWEN_FLAGS, '--continue', '-p', message],
    screen: [...QWEN_FLAGS, '--continue'],
    variables: (token, url) => ({
      OPENAI_API_KEY: token,
      OPENAI_BASE_URL: `${url}/v1`,
      OPENAI_MODEL: 'm',
    }),
    files: () => ({
      '.qwen/settings.json': JSON.stringify({
        model: { generationConfig: { modalities: { image: true } } },
      }),
    }),
    run: (command) => asCall('run_shell_command', { command, is_background: false }),
    write: (file_path, content) => asCall('write_file', { file_path, content }),
    show: () => 'Look at @x.png',
    isSteered: /1 queued/,
  },
];

let packages: ForeignPackages;
const homes: string[] = [];

beforeAll(async () => {
  packages = await installPackages(AGENTS.map(({ npm, version }) => `${npm}@${version}`));
  // The one script that a program needs: without it, a text stands in the place of opencode.
  const links = join(packages.folder, 'node_modules', 'opencode-ai', 'postinstall.mjs');
  await promisify(execFile)(process.execPath, [links]);
});
afterAll(async () => {
  await packages?.[Symbol.asyncDispose]();
  for (const home of homes) rmSync(home, { recursive: true, force: true });
});

describe.each(AGENTS)('$suite', (agent) => {
  const { suite, version } = agent;
  const counted = row({ suite, version, notRun: NO_REGISTRY });
  const onScreen = row({ suite, version, notRun: NO_REGISTRY ?? NO_TMUX });
  let model: ScriptedModel;
  let house: House;

  beforeAll(async () => {
    model = await startScriptedModel(answerOf);
    house = await startHouse({ modelUrl: model.baseUrl });
  });
  afterAll(async () => {
    await house?.[Symbol.asyncDispose]();
    await model?.close();
  });

  it(
    'works for ten turns with its own tools, each in a session that goes on, and sees a picture',
    counted,
    async () => {
      const { folder, say } = openProject(agent, house.ready);
      for (let turn = 1; turn <= 10; turn++) {
        const path = join(folder, `made-${turn}.txt`);
        if (turn % 3 === 0) {
          await say(`${agent.write(path, `turn ${turn}`)} Turn ${turn}.`);
          expect(readFileSync(path, 'utf8')).toBe(`turn ${turn}`);
        } else if (turn % 3 === 2) {
          expect(await say(`${agent.run('cat note.txt')} Turn ${turn}.`)).toMatch(
            /It said: [\s\S]*hello/,
          );
        } else {
          expect(await say(`Say turn${turn}.`)).toContain(`Heard turn${turn}.`);
        }
      }
      const newest = requestsWith(model, 'Say turn10.').at(-1);
      for (const earlier of ['turn1', 'Turn 2.', 'made-9.txt', 'Heard turn7.']) {
        expect(JSON.stringify(newest)).toContain(earlier);
      }

      await say(agent.show(join(folder, 'x.png')));
      expect(model.requests.some(hasPicture)).toBe(true);
      expect(await say('Say behind.')).toContain('Heard behind.');
    },
  );

  it('takes what a person writes on its screen while it works', onScreen, async () => {
    const { folder, env, say } = openProject(agent, house.ready);
    await say('Say before.');
    const screen = await openTmux([packages.program(agent.program), ...agent.screen], {
      cwd: folder,
      env,
      columns: 200,
      rows: 50,
    });
    const submit = async (message: string) => {
      await screen.type(message);
      await screen.shows(message.slice(-20));
      await screen.press('Enter');
    };
    await screen.shows('Heard before.');
    await submit(agent.run('touch begun; until [ -e go ]; do sleep 0.1; done; echo released'));
    await until(() => existsSync(join(folder, 'begun')));
    await submit('Say meanwhile.');
    await screen.shows(agent.isSteered);
    writeFileSync(join(folder, 'go'), '');
    await screen.shows('Heard meanwhile.');
    const steered = requestsWith(model, 'Say meanwhile.')[0];
    expect(JSON.stringify(steered)).toContain('Heard before.');
    expect(JSON.stringify(steered)).toContain('released');
    await submit('Say after.');
    await screen.shows('Heard after.');
  });
});

/** A project in a home of its own. Each message is one run of the program, after the first in the same session. */
function openProject(agent: Agent, { url, token }: Ready) {
  const home = mkdtempSync(join(tmpdir(), 'drawbridge-agent-'));
  homes.push(home);
  const folder = join(home, 'project');
  mkdirSync(folder);
  writeFileSync(join(folder, 'note.txt'), 'hello\n');
  writeFileSync(join(folder, 'x.png'), pictureFile());
  for (const [path, text] of Object.entries(agent.files(url))) {
    mkdirSync(dirname(join(home, path)), { recursive: true });
    writeFileSync(join(home, path), text);
  }
  const env = {
    HOME: home,
    // As a shell says it: opencode takes its folder from here.
    PWD: folder,
    XDG_CONFIG_HOME: join(home, '.config'),
    XDG_DATA_HOME: join(home, '.local', 'share'),
    XDG_STATE_HOME: join(home, '.local', 'state'),
    XDG_CACHE_HOME: join(home, '.cache'),
    ...agent.variables(token, url),
  };
  let words = agent.begin;
  const say = async (message: string) => {
    const args = words(message);
    words = agent.goOn;
    return await run(packages.program(agent.program), args, { cwd: folder, env });
  };
  return { folder, env, say };
}

/** All that the program prints. @throws with it where the program fails, or takes longer than two minutes. */
function run(
  program: string,
  args: readonly string[],
  { cwd, env }: { readonly cwd: string; readonly env: Readonly<Record<string, string>> },
): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = execFile(
      program,
      args,
      { cwd, env: { ...process.env, ...env }, timeout: 120_000, maxBuffer: 16 * 1024 * 1024 },
      (error, stdout, stderr) => {
        const printed = `${stdout}\n${stderr}`;
        if (error) reject(new Error(`${program}: ${error.message}\n${printed}`));
        else resolve(printed);
      },
    );
    child.stdin?.end();
  });
}
