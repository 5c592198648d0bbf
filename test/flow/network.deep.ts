import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { NO_BUBBLEWRAP } from '../../packages/sandbox/test/sandboxed-workspace.ts';
import { REGISTRIES } from '../../shared/tools/registries.ts';
import type { ApprovalQuestion } from '../../shared/wire/approvals.ts';
import type { ScriptedAnswer } from '../far-ends/scripted-model.ts';
import { deviceOf } from './allowing.ts';
import { oneHouse } from './one-house.ts';

const [NPM = ''] = REGISTRIES;
const isOnline = await fetch(`https://${NPM}/is-number/7.0.0`).then(
  ({ ok }) => ok,
  () => false,
);
const skipped = NO_BUBBLEWRAP ?? (isOnline ? undefined : 'skipped: no registry answers');

const at = oneHouse({ rules: [] });

/** Whether the system has the tool, where the user that commands run as finds it. */
function has(...command: readonly [string, ...string[]]): boolean {
  try {
    execFileSync(command[0], command.slice(1), { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

interface Offline {
  readonly title: string;
  /** A command that succeeds where the tool is. */
  readonly needs: readonly [string, ...string[]];
  readonly command: string;
  readonly output: string;
}

const SUM = 'def test_sum():\\n    assert 1 + 1 == 2\\n';
const SETUP = 'from setuptools import setup\\nsetup(name="greet", version="1.0", py_modules=[])\\n';
const GO_MAIN = 'package main\\nfunc main() { println("bu" + "ilt") }\\n';
const GEMSPEC =
  'Gem::Specification.new { |s| s.name = "greet"; s.version = "1.0"; s.summary = "g"; s.authors = ["a"] }';

const WITHOUT_NETWORK: readonly Offline[] = [
  {
    title: 'pytest',
    needs: ['/usr/bin/python3', '-m', 'pytest', '--version'],
    command: `printf '${SUM}' > test_sum.py && /usr/bin/python3 -m pytest -q test_sum.py`,
    output: '1 passed',
  },
  {
    title: 'pip in a venv',
    needs: ['/usr/bin/python3', '-m', 'ensurepip', '--version'],
    command:
      `mkdir py && cd py && printf '${SETUP}' > setup.py && /usr/bin/python3 -m venv venv && ` +
      'venv/bin/pip install --no-index --no-build-isolation .',
    output: 'Successfully installed greet-1.0',
  },
  {
    title: 'cargo build',
    needs: ['/usr/bin/cargo', '--version'],
    command: '/usr/bin/cargo init -q --vcs none --name made made && cd made && /usr/bin/cargo run',
    output: 'Hello, world!',
  },
  {
    title: 'go build',
    needs: ['/usr/bin/go', 'version'],
    command:
      `mkdir go && cd go && printf '${GO_MAIN}' > main.go && /usr/bin/go mod init a.test/made && ` +
      '/usr/bin/go build -o made . && ./made',
    output: 'built',
  },
  {
    title: 'gem install of a gem that it built',
    needs: ['/usr/bin/gem', '--version'],
    command:
      `mkdir gem && cd gem && printf '%s' '${GEMSPEC}' > g.gemspec && /usr/bin/gem build g.gemspec && ` +
      '/usr/bin/gem install --local --no-document greet-1.0.gem && /usr/bin/gem list -i greet',
    output: 'Successfully installed greet-1.0',
  },
];

interface Ran {
  readonly asked: readonly ApprovalQuestion[];
  /** What the model read of each command. */
  readonly results: readonly string[];
}

/** The agent runs these commands, one after the other; a person allows each question from now on. */
async function run(...calls: readonly object[]): Promise<Ran> {
  const { house } = at;
  at.answerWith([
    ...calls.map(
      (args): ScriptedAnswer => ({ calls: [{ name: 'run_terminal_cmd', arguments: { ...args } }] }),
    ),
    { text: 'Done.' },
  ]);
  const asked: ApprovalQuestion[] = [];
  const results: string[] = [];
  let conversationId = '';
  const messages = [{ role: 'user' as const, content: 'Go on' }];
  for await (const { event } of house.client.streamChat({ messages })) {
    if (event.type === 'response_start') conversationId = event.response.conversationId;
    if (event.type === 'tool_result') results.push(JSON.stringify(event));
    if (event.type !== 'approval_request') continue;
    const question = { ...event, conversationId };
    asked.push(question);
    const pattern = event.lasting?.pattern;
    const choice = pattern === undefined ? {} : { scope: 'always' as const, pattern };
    await house.client.allowCall(question, deviceOf(house), choice);
  }
  return { asked, results };
}

const INSTALL = {
  command: 'npm install --no-audit --no-fund is-number@7.0.0',
  permissions: ['network'],
};

describe.skipIf(skipped)(`the network by name ${skipped ?? ''}`, () => {
  it('costs one question in a project, and installs packages without one from then on', async () => {
    const first = await run(INSTALL);
    expect(first.results.join('')).toContain('added 1 package');
    expect(first.asked).toHaveLength(1);
    expect(first.asked[0]?.proposal).toMatchObject({
      permissions: expect.arrayContaining(['network:pypi.org', `network:${NPM}`]),
    });
    const folder = join(at.house.workspace, 'node_modules/is-number/package.json');
    expect(JSON.parse(readFileSync(folder, 'utf8'))).toMatchObject({ version: '7.0.0' });
    const again = await run(
      {
        ...INSTALL,
        command: 'rm -f package-lock.json; npm install --no-audit --no-fund is-odd@3.0.1 | tail -3',
      },
      { command: 'npm install --offline --no-audit --no-fund is-number@7.0.0' },
    );
    // Undo has package-lock.json, so `rm` does not ask either.
    expect(again.asked).toEqual([]);
    expect(again.results.join('')).toMatch(/added \d packages?.*up to date/);
  });

  it('keeps every other host closed, and says how to ask for it', async () => {
    const { asked, results } = await run({
      command: `curl -sS -m 20 https://example.com/; curl -sS -m 5 --noproxy "*" https://${NPM}/`,
      permissions: ['network'],
    });
    expect(asked).toEqual([]);
    expect(results.join('')).toMatch(/example.com is closed to this command: run it again with/);
    expect(results.join('')).toContain(`Could not resolve host: ${NPM}`);
  });

  it('leads a page of npm run dev to curl, with no question at all', async () => {
    const site = join(at.house.workspace, 'site');
    mkdirSync(site);
    writeFileSync(
      join(site, 'server.cjs'),
      'require("http").createServer((q, s) => s.end("a page")).listen(3000)',
    );
    writeFileSync(join(site, 'package.json'), '{"scripts": {"dev": "node server.cjs"}}');
    const { asked, results } = await run(
      { command: 'cd site && npm run dev', is_background: true, permissions: ['network'] },
      { command: 'curl -s --retry 9 --retry-connrefused http://localhost:3000/' },
      { command: 'curl -s http://localhost:3000/', permissions: ['network'] },
    );
    expect(asked).toEqual([]);
    expect(results.filter((result) => result.includes('a page'))).toHaveLength(2);
  });

  for (const { title, needs, command, output } of WITHOUT_NETWORK) {
    const absent = has(...needs) ? '' : `skipped: no ${needs.join(' ')}`;
    it.skipIf(absent)(`is not needed for ${title}, which asks nothing ${absent}`, async () => {
      const { asked, results } = await run({ command });
      expect(asked).toEqual([]);
      expect(results.join('')).toContain(output);
    });
  }
});
