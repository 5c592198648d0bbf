import { join } from 'node:path';
import { expect, test } from 'vitest';
import { Random } from '../../../bench/fuzz/random.ts';
import type { Rule } from '../../../bridge/admission/rules.ts';
import { NO_BUBBLEWRAP } from '../../../packages/sandbox/test/sandboxed-workspace.ts';
import { deep } from '../../depth.ts';
import { temporaryFolder } from '../tools/temporary-workspace.ts';
import { randomLine, randomPush } from './generated-lines.ts';
import { judge } from './judging.ts';
import { createPushOracle } from './push-oracle.ts';
import { createOracle, isAllowed } from './shell-oracle.ts';

const LINES = deep(12_000);
const PUSHES = LINES / 6;
const SEED = Number(process.env['SEED'] ?? 9);
const WORKERS = 3;

test(`no line of ${LINES} that runs unasked runs what no rule allows`, async () => {
  const random = new Random(SEED);
  const folder = await temporaryFolder();
  const differences: { line: string; shell: string; found: string[] }[] = [];
  const ran = { bash: 0, dash: 0 };
  const lines = linesOf(LINES, () => randomLine(random));
  await eachOf(WORKERS, async (worker) => {
    const oracle = await createOracle(join(folder, worker));
    for (const line of lines) {
      if (!isAllowed(line)) continue;
      const shell = random.chance(0.25) ? 'dash' : 'bash';
      const found = await oracle(line, shell);
      ran[shell]++;
      if (found.length > 0) differences.push({ line, shell, found });
    }
  });
  console.log(`${LINES} lines, of which ran: ${JSON.stringify(ran)}`);
  expect(differences.slice(0, 20)).toEqual([]);
  expect(ran.bash).toBeGreaterThan(LINES / 20);
});

test.skipIf(NO_BUBBLEWRAP)(
  `no line of ${PUSHES} that runs git push escapes the rule that denies it`,
  async () => {
    const random = new Random(SEED);
    const folder = await temporaryFolder();
    const missed: string[] = [];
    let pushed = 0;
    const lines = linesOf(PUSHES, () => randomPush(random));
    await eachOf(WORKERS, async (worker) => {
      const runsPush = await createPushOracle(join(folder, worker));
      for (const line of lines) {
        if (!line.includes('pu') || !(await runsPush(line))) continue;
        pushed++;
        if (!isDenied(line)) missed.push(line);
      }
    });
    console.log(`${PUSHES} lines, of which ${pushed} ran git push`);
    expect(missed.slice(0, 20)).toEqual([]);
    expect(pushed).toBeGreaterThan(PUSHES / 20);
  },
);

/** A person is asked about a line that cannot be read, which is as good. */
function isDenied(command: string): boolean {
  const rule: Rule = { tool: 'run_terminal_cmd', pattern: 'git push*', decision: 'deny' };
  const policy = { workspace: '/w', isConfined: true, userRules: [rule], workspaceRules: [] };
  const call = { tool: 'run_terminal_cmd', arguments: { command }, mode: 'agent' } as const;
  return judge(call, policy).decision !== 'allow';
}

function* linesOf(count: number, next: () => string): Generator<string> {
  for (let index = 0; index < count; index++) yield next();
}

/** Shares the work among some at once. */
async function eachOf(count: number, work: (worker: string) => Promise<void>): Promise<void> {
  await Promise.all(Array.from({ length: count }, (_, worker) => work(String(worker))));
}
