/**
 * Runs the foreign suites and programs of this folder, and prints one table of them. A run of all files writes
 * docs/conformance.md and its line in README.md, whatever its outcome. Arguments choose files, as with vitest: such a
 * run writes nothing.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Reporter, startVitest, type TestModule } from 'vitest/node';
import { type Case, type Line, linesOf, summaryOf, toPage, toTable } from './table.ts';

const ROOT = join(import.meta.dirname, '../..');

/** Drawbridge's own package on several versions of Node: no foreign program. */
const OURS = 'test/interop/package.interop.ts';

/** Suites that were looked at and are not run, each with the reason. */
const LEFT_OUT = [
  [
    'MCP conformance, server, the other scenarios',
    'they call tools, resources and prompts that only the package’s own server has',
  ],
  [
    'Durable Streams, server suite',
    '314 of its 321 tests begin with a write of the client, and the tape of a conversation takes none: only the server writes it',
  ],
];

class Cases implements Reporter {
  readonly all: Case[] = [];

  onTestModuleEnd(file: TestModule): void {
    const ofFile = { suite: file.relativeModuleId, version: '' };
    const broken = [file, ...file.children.allSuites()].filter((each) => each.errors().length > 0);
    for (const each of broken) {
      const row = each.meta().row ?? ofFile;
      const name = each.type === 'module' ? 'the file' : each.name;
      this.all.push({ row, name, state: 'failed' });
    }
    for (const test of file.children.allTests()) {
      const { row, left } = test.meta();
      const { state } = test.result();
      if (row) this.all.push({ row, name: test.name, state, left });
      else if (state === 'failed') this.all.push({ row: ofFile, name: test.name, state });
    }
  }
}

process.chdir(ROOT);
const files = process.argv.slice(2);
const cases = new Cases();
const config = 'vitest.interop.config.ts';
const vitest = await startVitest('test', files, {
  config,
  watch: false,
  exclude: [OURS],
  reporters: ['default', cases],
});
await vitest.close();

const lines = linesOf(cases.all);
console.log(`\n${toTable(lines)}\n\n${summaryOf(lines)}`);
if (lines.length === 0 || lines.some(({ isBroken }) => isBroken)) process.exitCode = 1;
if (files.length === 0) writePages(lines);

function writePages(lines: readonly Line[]): void {
  const day = new Date().toISOString().slice(0, 10);
  const leftOut = LEFT_OUT.map(([suite, reason]) => `- ${suite}: ${reason}.`).join('\n');
  writeFileSync(
    'docs/conformance.md',
    `# Conformance

${summaryOf(lines)} (${day}).

\`npm run conformance\` installs foreign suites and programs in the pinned versions, runs them beside
a real server and bridge with a scripted model, and writes this page. A case is one test in
\`test/interop/\`. A case that is left is asserted to fail: once it is repaired, the run fails until its
reason is taken away. A suite that could not run is "not run", with the reason, and in no total.

Three suites are in no registry. A variable names a folder with a clone of each: \`OPEN_RESPONSES\` of
\`openresponses/openresponses\`, \`WPT\` of \`web-platform-tests/wpt\`, \`ACP_REGISTRY\` of
\`agentclientprotocol/registry\`.

${toPage(lines)}

## Not in the table

${leftOut}
`,
  );
  const readme = readFileSync('README.md', 'utf8');
  const line = /(?<=\[docs\/conformance\.md\]\(docs\/conformance\.md\):\n)[^.]*/;
  writeFileSync('README.md', readme.replace(line, summaryOf(lines)));
  execFileSync('node_modules/.bin/biome', ['check', '--write', 'docs/conformance.md']);
}
