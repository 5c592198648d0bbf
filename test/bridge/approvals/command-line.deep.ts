import { join } from 'node:path';
import { expect, test } from 'vitest';
import { Random } from '../../../bench/fuzz/random.ts';
import { temporaryFolder } from '../tools/temporary-workspace.ts';
import { randomLine } from './generated-lines.ts';
import { createOracle, isAllowed } from './shell-oracle.ts';

const LINES = Number(process.env['LINES_OF_FUZZ'] ?? 60_000);
const SEED = Number(process.env['SEED'] ?? 9);
const WORKERS = 3;

test(`no line of ${LINES} that runs unasked runs what no rule allows`, async () => {
  const random = new Random(SEED);
  const folder = await temporaryFolder();
  const differences: { line: string; shell: string; found: string[] }[] = [];
  const ran = { bash: 0, dash: 0 };
  let left = LINES;
  const work = async (_: unknown, worker: number) => {
    const oracle = await createOracle(join(folder, String(worker)));
    while (left-- > 0) {
      const line = randomLine(random);
      if (!isAllowed(line)) continue;
      const shell = random.chance(0.25) ? 'dash' : 'bash';
      const found = await oracle(line, shell);
      ran[shell]++;
      if (found.length > 0) differences.push({ line, shell, found });
    }
  };
  await Promise.all(Array.from({ length: WORKERS }, work));
  console.log(`${LINES} lines, of which ran: ${JSON.stringify(ran)}`);
  expect(differences.slice(0, 20)).toEqual([]);
  expect(ran.bash).toBeGreaterThan(LINES / 20);
});
