/** An agent that edits, runs commands, undoes and redoes without end, in a process that a test kills. */
import { readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { randomFrom } from './random.ts';
import { UndoneFolder } from './undone-folder.ts';

const [base = '', seed = '0'] = process.argv.slice(2);
const { random, pick } = randomFrom(Number(seed));
const folder = await UndoneFolder.make(base);
process.stdout.write('ready\n');

for (let step = 0; ; step++) {
  const name = pick(['a', 'b', 'c']);
  const path = join(folder.root, name);
  const lines = readdirSync(folder.root).includes(name)
    ? readFileSync(path, 'utf8').split('\n')
    : [];
  const isTheirs = lines.some((line) => line.startsWith('person'));
  const text = agentEdit(lines, `agent ${seed} ${step}`).join('\n');
  const response = `resp_${seed}_${Math.floor(step / 3)}`;
  try {
    switch (random(6)) {
      case 0:
        if (lines.length > 0 && !isTheirs) await folder.delete(name, response);
        break;
      case 1:
        await folder.command(() => replace(path, text), response);
        break;
      case 2:
        await folder.undo({ scope: 'last' });
        break;
      case 3:
        await folder.undo({ scope: 'redo' });
        break;
      default:
        await folder.write(name, text, response);
    }
  } catch (error) {
    process.stderr.write(`${error}\n`);
  }
}

/** At once, so that no kill leaves half of the file. */
function replace(path: string, text: string): void {
  const temporary = join(base, 'temporary');
  writeFileSync(temporary, text);
  renameSync(temporary, path);
}

/** Changes only lines of its own. */
function agentEdit(lines: readonly string[], line: string): string[] {
  const own = lines.flatMap((each, at) => (each.startsWith('agent') ? [at] : []));
  if (own.length > 0 && random(2) === 0) return lines.toSpliced(pick(own), 1, line);
  return lines.toSpliced(random(lines.length + 1), 0, line);
}
