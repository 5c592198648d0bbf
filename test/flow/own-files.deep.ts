import { execFileSync, spawnSync } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { createClient } from '../../client/index.ts';
import { NO_BUBBLEWRAP } from '../../packages/sandbox/test/sandboxed-workspace.ts';
import { type ScriptedModel, startScriptedModel } from '../far-ends/scripted-model.ts';
import { isAlive, treeOf } from '../local/processes.ts';
import { pack, ROOT } from '../package/pack.ts';
import { until } from './house.ts';

const QUERY = /<user_query>\s*(\[\{.*\}\])\s*<\/user_query>/s;

/** Packages that bring programs of their own. */
const PROGRAMS = ['@vscode', 'workerd', '@cloudflare'];

let base: string;
let model: ScriptedModel;
let tarball: string;

beforeAll(async () => {
  ({ tarball } = await pack(ROOT, realpathSync(mkdtempSync(join(tmpdir(), 'drawbridge-pack-')))));
  // The last message is the list of calls that the model makes. Code of the workspace can stand beside it.
  model = await startScriptedModel(({ messages }) => {
    const last = messages.at(-1);
    return last?.role === 'user'
      ? { calls: JSON.parse(plain(QUERY.exec(String(last.content))?.[1] ?? '[]')) }
      : { text: 'done' };
  });
});
afterAll(async () => {
  await model.close();
  rmSync(join(tarball, '..'), { recursive: true });
});

function setUp(): void {
  base = realpathSync(mkdtempSync(join(tmpdir(), 'drawbridge-own-')));
  chmodSync(base, 0o755);
}

async function tearDown(): Promise<void> {
  // Not by a command: the project's own program may be the attacker's.
  const { pid } = existsSync(instancePath()) ? instance() : { pid: undefined };
  if (pid !== undefined) {
    kill(pid, 'SIGTERM');
    await until(async () => !isAlive(pid));
  }
  rmSync(base, { recursive: true, force: true });
}

const plain = (text: string) =>
  text.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&');

const PLACES = [
  ['a package among those of the project', installed, 'node_modules/drawbridge/dist/cli'],
  ['a clone that is the workspace', cloned, '.build'],
] as const;

let token = '';

describe.skipIf(NO_BUBBLEWRAP).each(PLACES)('the program is %s', (_, make, modules) => {
  // One server for all attacks: most of the time goes into making the project and the program's copy.
  beforeAll(async () => {
    setUp();
    make();
    giveAway();
    expect(run('start', '--port', '0')).toMatchObject({
      status: 0,
      stderr: expect.stringContaining('run in a sandbox'),
    });
    // Once, before the attacks: this command is one that the person starts from the workspace.
    token = run('token').stdout.trim();
    await ask([{ name: 'grep', arguments: { pattern: 'needle' } }]);
  });
  afterAll(tearDown);

  test.each(attacksOn(modules))('and a command %s', async (_, calls) => {
    const results = await ask(calls(join(base, 'project')));
    expect(results.length).toBe(calls('').length);
    await expectUnharmed();
    // What stopped is started again from its files.
    const { pid } = instance();
    const helpers = treeOf(pid).filter(({ command }) => /bridge-host|workerd/.test(command));
    expect(helpers.length).toBeGreaterThan(1);
    for (const helper of helpers) kill(helper.pid, 'SIGKILL');
    await expectUnharmed();
    expect(instance().pid).toBe(pid);
  });
});

test('a bridge refuses a workspace with the program, if no copy can be made outside', () => {
  setUp();
  onTestFinished(tearDown);
  installed();
  giveAway();
  const { status, stderr } = run('start', '--port', '0', {
    DRAWBRIDGE_PROGRAMS: '/proc/nowhere/programs',
  });
  expect({ status, stderr }).toEqual({
    status: 1,
    stderr: expect.stringMatching(/in the workspace .*DRAWBRIDGE_PROGRAMS/),
  });
});

/** Calls that put a program into the place of ours. Each program leaves a mark outside, which no command can do. */
function attacksOn(modules: string) {
  const shell = `#!/bin/sh\\necho ran >> ${'$MARK'}\\n`;
  const script = `import { appendFileSync } from "node:fs"; appendFileSync("$MARK", "ran");`;
  const put =
    // Without `rm`, which asks.
    `put() { mkdir -p "$(dirname "$1")"; printf "${shell}" > "$1.new"; chmod 755 "$1.new"; mv -f "$1.new" "$1"; }; ` +
    `all() { for p in @vscode/ripgrep-linux-x64/bin/rg @cloudflare/workerd-linux-64/bin/workerd workerd/bin/workerd node/bin/node .bin/node .bin/drawbridge; do put "$1/$p"; done; ` +
    `for f in $(find . -path "*${modules}*" -name "*.js") $(find . -path "*@vscode*lib/index.js") $(find . -path "*workerd/lib/main.js"); do echo '${script}' > $f; done; }; `;
  const command = (line: string) => [{ name: 'run_terminal_cmd', arguments: { command: line } }];
  const marked = (text: string) => text.replaceAll('$MARK', join(base, 'mark'));
  return [
    // This one needs its targets to be files, which later attacks make links.
    [
      'made programs, which file tools put in their place',
      (project: string) => [
        ...command(marked(`${put} put evil-rg; put evil-workerd`)),
        ...['@vscode/ripgrep-linux-x64/bin/rg', '@cloudflare/workerd-linux-64/bin/workerd'].flatMap(
          (name) => {
            const [path, target] = [
              join(project, 'node_modules', name),
              join(project, `evil-${basename(name)}`),
            ];
            return [
              // Not deleted: no undo could restore a file of this size, so that would ask.
              { name: 'rename_file', arguments: { target_file: path, new_path: `${path}.old` } },
              { name: 'rename_file', arguments: { target_file: target, new_path: path } },
            ];
          },
        ),
      ],
    ],
    ['writes to its files', () => command(marked(`${put} all node_modules`))],
    [
      'moves the folder above them',
      () =>
        command(
          marked(
            `${put} mv node_modules moved; mkdir node_modules; cp -a moved/. node_modules; all node_modules`,
          ),
        ),
    ],
    [
      'puts a link in their place',
      () =>
        command(
          marked(
            `${put} mkdir evil; all evil; for n in @vscode @cloudflare workerd node; do mv node_modules/$n old-$n; ln -s "$PWD/evil/$n" node_modules/$n; done`,
          ),
        ),
    ],
  ] as const satisfies (readonly [string, (project: string) => readonly Call[]])[];
}

interface Call {
  readonly name: string;
  readonly arguments: Readonly<Record<string, unknown>>;
}

/** A search still works, and no program of the command has run outside of the sandbox. */
async function expectUnharmed(): Promise<void> {
  const mark = join(base, 'mark');
  const search = async () => {
    if (existsSync(mark)) return 'hay.txt';
    return await ask([{ name: 'grep', arguments: { pattern: 'needle' } }]).catch(() => []);
  };
  await expect.poll(async () => JSON.stringify(await search())).toContain('hay.txt');
  expect(existsSync(mark) && readFileSync(mark, 'utf8')).toBe(false);
}

/** The results of calls that the model makes. */
async function ask(calls: readonly Call[]): Promise<unknown[]> {
  const client = createClient({ url: instance().url, token });
  const results: unknown[] = [];
  const messages = [{ role: 'user', content: JSON.stringify(calls) }] as const;
  for await (const { event } of client.streamChat({ messages: [...messages] })) {
    if (event.type === 'tool_result') results.push(event);
  }
  return results;
}

function instance(): { url: string; pid: number } {
  return JSON.parse(readFileSync(instancePath(), 'utf8'));
}

const instancePath = () => join(base, 'state', 'drawbridge', 'server', 'instance.json');

/** The package as npm installs it, with the packages that it needs. */
function installed(): void {
  const modules = join(base, 'project', 'node_modules');
  mkdirSync(join(modules, 'drawbridge'), { recursive: true });
  execFileSync('tar', ['-xf', tarball, '-C', join(modules, 'drawbridge'), '--strip-components=1']);
  for (const name of PROGRAMS) cpSync(join(ROOT, 'node_modules', name), join(modules, name), TREE);
  writeFileSync(join(base, 'project', 'package.json'), '{}');
}

/** A clone whose programs are its own. The rest of its packages is only needed to bundle it. */
function cloned(): void {
  const project = join(base, 'project');
  const modules = join(project, 'node_modules');
  mkdirSync(modules, { recursive: true });
  for (const name of SOURCES) cpSync(join(ROOT, name), join(project, name), TREE);
  for (const name of readdirSync(join(ROOT, 'node_modules'))) {
    const [from, to] = [join(ROOT, 'node_modules', name), join(modules, name)];
    if (PROGRAMS.includes(name)) cpSync(from, to, TREE);
    else if (name !== '.bin') symlinkSync(from, to);
  }
}

const SOURCES = [
  ...['bin', 'bridge', 'cli', 'client', 'doors'],
  ...['local', 'machine', 'packages', 'shared', 'web', 'worker'],
  ...['package.json', 'package-lock.json', 'tsconfig.base.json', 'wrangler.toml'],
];
const TREE = { recursive: true };

/** Commands of a bridge that root runs need a workspace of somebody else. */
function giveAway(): void {
  writeFileSync(join(base, 'project', 'hay.txt'), 'a needle\n');
  if (process.getuid?.() === 0) execFileSync('chown', ['-Rh', '1234:1234', join(base, 'project')]);
}

function run(...words: (string | Record<string, string>)[]) {
  const args = words.filter((word) => typeof word === 'string');
  const env = {
    ...Object.fromEntries(
      Object.entries(process.env).filter(([name]) => !/^(npm_|INIT_CWD)/.test(name)),
    ),
    XDG_STATE_HOME: join(base, 'state'),
    XDG_CONFIG_HOME: join(base, 'config'),
    OPENAI_BASE_URL: model.baseUrl,
    OPENAI_MODEL: 'scripted',
    DRAWBRIDGE_PROGRAMS: '',
    HOME: base,
    ...(Object.assign({}, ...words.filter((word) => typeof word !== 'string')) as object),
  };
  const launcher = [
    join('node_modules', 'drawbridge', 'bin', 'drawbridge.mjs'),
    join('bin', 'drawbridge.mjs'),
  ];
  const cwd = join(base, 'project');
  const program =
    launcher.find((file) => existsSync(join(cwd, file))) ?? join(ROOT, 'bin', 'drawbridge.mjs');
  return spawnSync(process.execPath, [program, ...args], { cwd, env, encoding: 'utf8' });
}

function kill(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // It stopped with another one.
  }
}
