import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { deep } from '../../depth.ts';
import { canMount, mountSmallDisk } from '../../local/small-disk.ts';
import { randomFrom } from './random.ts';
import { UndoneFolder } from './undone-folder.ts';

const RUNS = deep(100);
const KILLS = deep(100);
const NAMES = ['a', 'b', 'c'] as const;

test('random edits, undos and redos never lose a line that the person wrote', async () => {
  for (let seed = 1; seed <= RUNS; seed++) await runOnce(seed);
});

/** Each line of the person is unique, and only the person takes it away again. */
async function runOnce(seed: number): Promise<void> {
  const { random, pick } = randomFrom(seed);
  await using folder = await UndoneFolder.make();
  const at = (name: string) => join(folder.root, name);
  const linesOf = (name: string) =>
    readdirSync(folder.root).includes(name) ? readFileSync(at(name), 'utf8').split('\n') : [];
  let theirs = new Set<string>();
  const check = () => {
    const all = NAMES.flatMap(linesOf);
    expect(
      [...theirs].filter((line) => !all.includes(line)),
      `seed ${seed}`,
    ).toEqual([]);
  };
  for (let step = 0; step < 25; step++) {
    const name = pick(NAMES);
    const lines = linesOf(name);
    const place = random(lines.length + 1);
    switch (random(7)) {
      case 0:
      case 1: {
        // The agent changes lines of its own.
        const free = lines
          .map((line, index) => (theirs.has(line) ? -1 : index))
          .filter((i) => i >= 0);
        const next = [...lines];
        if (free.length > 0 && random(2) === 0) next[pick(free)] = `agent ${step}`;
        else next.splice(place, 0, `agent ${step}`);
        await folder.write(name, next.join('\n'), `resp_${random(4)}`);
        break;
      }
      case 2: {
        const line = `person ${step}`;
        writeFileSync(at(name), lines.toSpliced(place, 0, line).join('\n'));
        theirs.add(line);
        break;
      }
      case 3: {
        if (lines.some((line) => theirs.has(line))) break;
        if (lines.length > 0) await folder.delete(name, `resp_${random(4)}`);
        break;
      }
      case 4: {
        await folder.undo(pick([{ scope: 'last' }, { scope: 'response', id: 'resp_1' }]));
        break;
      }
      case 5: {
        if (random(3) === 0) folder.restart();
        if (random(6) === 0 && lines.length > 0) {
          rmSync(at(name));
          theirs = new Set([...theirs].filter((line) => !lines.includes(line)));
        } else await folder.undo({ scope: 'redo' });
        break;
      }
      case 6: {
        // A command appends, or writes a file anew that has nothing of the person.
        const isOwn = !lines.some((line) => theirs.has(line)) && random(2) === 0;
        const next = isOwn ? [`command ${step}`] : [...lines, `command ${step}`];
        const work = () => writeFileSync(at(name), next.join('\n'));
        expect(await folder.command(work, `resp_${random(4)}`), `seed ${seed}`).toEqual([]);
        break;
      }
      default:
        break;
    }
    check();
  }
}

test('a change that no other followed is undone byte for byte, and so is its redo', async () => {
  const { random } = randomFrom(7);
  for (let run = 0; run < RUNS; run++) {
    await using folder = await UndoneFolder.make();
    const at = (name: string) => join(folder.root, name);
    const bytes = () => Buffer.from(Array.from({ length: random(400) }, () => random(256)));
    const [before, after] = [bytes(), bytes()];
    writeFileSync(at('a'), before);
    await folder.write('a', after);
    await folder.undo({ scope: 'last' });
    expect(readFileSync(at('a')).equals(before)).toBe(true);
    await folder.undo({ scope: 'redo' });
    expect(readFileSync(at('a')).equals(after)).toBe(true);
  }
});

test(`${KILLS} kills at any moment lose nothing of the person`, async () => {
  await using folder = await UndoneFolder.make();
  const { random, pick } = randomFrom(11);
  const theirs: string[] = [];
  const at = (name: string) => join(folder.root, name);
  for (let kill = 0; kill < KILLS; kill++) {
    const args = [AGENT, folder.base, String(kill)];
    const agent = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
    onTestFinished(() => void agent.kill('SIGKILL')); // Also where the test runs out of time.
    await once(agent.stdout, 'data');
    await sleep(random(120));
    agent.kill('SIGKILL');
    await once(agent, 'close');
    const files = NAMES.filter((name) => readdirSync(folder.root).includes(name));
    const all = files.flatMap((name) => readFileSync(at(name), 'utf8').split('\n'));
    expect(
      theirs.filter((line) => !all.includes(line)),
      `kill ${kill}`,
    ).toEqual([]);
    const name = pick(NAMES);
    const lines = files.includes(name) ? readFileSync(at(name), 'utf8').split('\n') : [];
    const line = `person ${kill}`;
    writeFileSync(at(name), lines.toSpliced(random(lines.length + 1), 0, line).join('\n'));
    theirs.push(line);
  }
});

test.runIf(canMount())(
  'a full disk costs undos, never an edit or what the person wrote',
  async () => {
    const folder = await UndoneFolder.make();
    onTestFinished(() => folder[Symbol.asyncDispose]()); // After the disk has gone.
    const disk = mountSmallDisk(folder.stateDir, '512k');
    folder.restart();
    const path = join(folder.root, 'a');
    writeFileSync(path, 'one\n');
    await folder.write('a', 'two\n');
    disk.fill();
    await folder.write('a', 'three\n');
    expect(readFileSync(path, 'utf8')).toBe('three\n');
    expect(folder.checkpoints.canKeep(Buffer.from('x'.repeat(10_000)))).toBe(false);
    expect(await folder.command(() => writeFileSync(path, 'four\n'))).toEqual(['a']);
    expect(await folder.undo({ scope: 'last' })).toMatchObject({ a: 'not_stored' });
    expect(readFileSync(path, 'utf8')).toBe('four\n');
    disk.empty();
    await folder.write('a', 'five\n', 'resp_2');
    folder.restart();
    expect(await folder.undo({ scope: 'response', id: 'resp_2' })).toEqual({ a: 'restore' });
    expect(readFileSync(path, 'utf8')).toBe('four\n');
  },
);

const AGENT = join(import.meta.dirname, 'agent-process.ts');
