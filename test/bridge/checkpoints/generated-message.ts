/** Generated messages whose commands, tools and person move files about, and what an undo of them must hold. */
import { randomUUID } from 'node:crypto';
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { ToolFailure } from '../../../machine/failure.ts';
import { randomFrom } from './random.ts';
import type { Shell } from './shell.ts';
import { UndoneFolder } from './undone-folder.ts';

const PATHS = ['a', 'b', 'c c', 'd', 'd/x', 'd/y', 'd/e/z', 'e', 'e/x', 'l', 'm'] as const;
const FILES = ['a', 'b', 'c c', 'd/x', 'd/y', 'e/x'] as const;
/** Where no look reads. */
const UNREAD = ['t/a', 't/d/x', 'v/a', 'node_modules/a', 'node_modules/m/x'] as const;
const UNREAD_FOLDERS = ['t', 't/d', 'v', 'node_modules', 'node_modules/m'] as const;
const MARKS = ['t/CACHEDIR.TAG', 'v/pyvenv.cfg'] as const;

/** What is wrong after the undos of one generated message, and what was done. */
export interface Finding {
  readonly seed: number;
  readonly problem: string;
  readonly story: readonly string[];
}

/** Makes, undoes, redoes and undoes the message of a seed. Undefined where nothing was lost. */
export async function tryMessage(seed: number, shell: Shell): Promise<Finding | undefined> {
  const { random, pick } = randomFrom(seed);
  await using folder = await UndoneFolder.make();
  const { root } = folder;
  const at = (name: string) => join(root, name);
  const story: string[] = [];
  let number = 0;
  const text = (whose: string) => {
    const lines = Array.from({ length: 1 + random(3) }, () => `${whose} ${seed} ${++number}\n`);
    return lines.join('');
  };
  for (const name of FILES) {
    if (random(4) === 0) continue;
    mkdirSync(dirname(at(name)), { recursive: true });
    writeFileSync(at(name), text('person'), { mode: pick([0o644, 0o644, 0o755, 0o444]) });
  }
  /** Half of the messages have such places. Undo brings back nothing there, but takes nothing from there either. */
  const hasUnread = random(2) === 0;
  if (hasUnread) {
    for (const name of [...UNREAD, ...MARKS]) mkdirSync(dirname(at(name)), { recursive: true });
    for (const name of MARKS) writeFileSync(at(name), '');
    for (const name of UNREAD) if (random(4) > 0) writeFileSync(at(name), text('person'));
  }
  const places: readonly string[] = hasUnread ? [...PATHS, ...UNREAD] : PATHS;
  if (random(3) === 0) symlinkSync(pick(['a', 'd', `person ${seed} link`]), at('l'));
  const hasGit = random(4) === 0;
  if (hasGit) {
    await shell.run('git init -q && git add . && git commit -qm one', root);
    if (random(2) === 0) writeFileSync(at('a'), text('person'));
  }
  await folder.command(() => {});

  const before = stateOf(root);
  /** The person's lines and links that no act of the person has removed. */
  const theirs = personsIn(before);
  /** Those that a look found, or that no command has removed. */
  const read = new Set<string>();
  /** Those that a command brought from where no look reads, and that no look had found before. */
  const copied = new Set<string>();
  /** Those that only files there had, or copies of a command, where such a file has another content since. */
  const overwritten = new Set<string>();
  /** All contents that files there had. */
  const unread = new Set<string>();
  const noteOverwritten = (earlier: State) => {
    const now = stateOf(root);
    for (const [path, file] of Object.entries(earlier)) {
      if (isRead(path)) continue;
      unread.add(file.text);
      const present = now[path];
      if (present === undefined) continue;
      const left = personsIn({ present });
      for (const one of personsIn({ file }))
        if (!left.has(one) && (copied.has(one) || !read.has(one))) overwritten.add(one);
    }
  };
  let isAlone = true;
  const person = () => {
    const earlier = stateOf(root);
    const had = personsIn(earlier);
    const act = personAct();
    noteOverwritten(earlier);
    story.push(`person: ${act}`);
    isAlone = false;
    const has = personsIn(stateOf(root));
    for (const one of had) if (!has.has(one)) theirs.delete(one);
    for (const one of has) if (!had.has(one)) theirs.add(one);
  };
  function personAct(): string {
    const [name, other] = [pick(places), pick(places)];
    const acts: (readonly [string, () => void])[] = [
      [`writes ${name}`, () => writeFileSync(at(name), text('person'))],
      [`writes ${name}`, () => writeFileSync(at(name), text('person'))],
      [`appends to ${name}`, () => writeFileSync(at(name), text('person'), { flag: 'a' })],
      [
        `puts before ${name}`,
        () => writeFileSync(at(name), `${text('person')}${readFileSync(at(name), 'utf8')}`),
      ],
      [`deletes ${name}`, () => rmSync(at(name), { recursive: true })],
      [`moves ${name} to ${other}`, () => renameSync(at(name), at(other))],
      [`links ${name} to ${other}`, () => symlinkSync(other, at(name))],
      [`links ${name}`, () => symlinkSync(`person ${seed} ${++number}`, at(name))],
      [`makes ${name}`, () => mkdirSync(at(name))],
      [`chmods ${name}`, () => chmodSync(at(name), 0o600)],
    ];
    const [shown, act] = pick(acts);
    try {
      act();
      return shown;
    } catch {
      return `${shown} (fails)`;
    }
  }
  const brought = () => {
    const [p, q] = [`'${pick(UNREAD)}'`, `'${pick(PATHS)}'`];
    const f = pick(UNREAD_FOLDERS);
    const agent = `echo agent ${seed} ${++number}`;
    return pick([
      ...[
        `mv ${p} ${q}`,
        `mv ${p} ${q}`,
        `mv ${p} ${q}; touch ${q}`,
        `mv ${p} ${q}; ${agent} >> ${q}`,
      ],
      ...[
        `mv ${p} ${q}; sed -i s/agent/x/ ${q}`,
        `mv ${p} ${q}; sed -i 1d ${q}`,
        `mv -T ${f} ${q}`,
      ],
      ...[`cp ${p} ${q}; rm ${p}`, `cp ${p} ${q}; ${agent} >> ${q}; rm ${p}`, `mv ${f} ${q}`],
      ...[
        `cp ${p} ${q}; rm -rf ${f}`,
        `cp -r ${f} ${q}; rm -r ${f}`,
        `cp ${p} ${q}; ${agent} > ${p}`,
      ],
      ...[`install ${p} ${q}`, `install ${p} ${q}; rm ${p}`, `cat ${p} > ${q}`, `cp -a ${p} ${q}`],
      ...[`ln ${p} ${q}`, `ln -f ${p} ${q}`, `ln ${q} ${p}`, `mv ${q} ${p}`, `mv ${q} ${f}`],
      ...[
        `mv ${q} ${p}; mv ${p} ${q}`,
        `cp ${q} ${p}`,
        `rm -f ${p}`,
        `rm -rf ${f}`,
        `rm ${MARKS[0]}`,
      ],
      ...[`sed -i 1d ${p}`, `${agent} >> ${p}`, `${agent} > ${p}`, `mkdir -p ${f}`, `touch ${q}`],
    ]);
  };
  const line = () => {
    if (hasUnread && random(2) === 0) return brought();
    const [p, q] = [`'${pick(PATHS)}'`, `'${pick(PATHS)}'`];
    const agent = `echo agent ${seed} ${++number}`;
    return pick([
      ...[`mv ${p} ${q}`, `mv ${p} ${q}`, `mv -T ${p} ${q}`, `cp ${p} ${q}`, `cp -a ${p} ${q}`],
      ...[`rm -f ${p}`, `rm -rf ${p}`, `ln ${p} ${q}`, `ln -f ${p} ${q}`],
      ...[`ln -s ${p} ${q}`, `ln -sfn ${p} ${q}`, `install -m 755 ${p} ${q}`],
      ...[`sed -i s/person/agent/ ${p}`, `sed -i 1d ${p}`, `${agent} > ${p}`, `${agent} >> ${p}`],
      ...[`cat ${p} > ${q}`, `chmod 600 ${p}`, `chmod 444 ${p}`, `mkdir -p ${p}`, `rmdir ${p}`],
      ...(hasGit ? [`git mv ${p} ${q}`, `git mv -f ${p} ${q}`, `git checkout -- ${p}`] : []),
      ...(hasGit ? ['git checkout -- .', 'git stash', 'git rm -qf a', 'git clean -qfd'] : []),
    ]);
  };
  const agent = async (response: string) => {
    const earlier = stateOf(root);
    for (const one of personsIn(earlier, isRead)) read.add(one);
    const had = personsIn(earlier);
    await agentAct(response);
    const has = personsIn(stateOf(root));
    for (const one of personsIn(stateOf(root), isRead)) if (!read.has(one)) copied.add(one);
    noteOverwritten(earlier);
    for (const one of had) if (!has.has(one) && !read.has(one)) theirs.delete(one);
  };
  const agentAct = async (response: string) => {
    const [name, other] = [pick(places), pick(places)];
    const kind = random(7);
    if (kind < 4) {
      const lines = Array.from({ length: 1 + random(3) }, line).join('; ');
      story.push(`${response} command: ${lines}`);
      const lost = await folder.command(() => shell.run(lines, root), response);
      if (lost.length > 0) story.push(`LOST ${lost.join()}`);
      return;
    }
    const tools = [
      () => folder.write(name, text('agent'), response),
      () => folder.delete(name, response),
      () => folder.rename(name, other, response),
    ] as const;
    story.push(`${response} tool ${kind - 4}: ${name} ${other}`);
    await tools[kind - 4]?.().catch((error: unknown) => {
      if (!(error instanceof ToolFailure)) throw error;
      story.push('  (refused)');
    });
  };

  const [one, two] = [`resp_${randomUUID()}`, `resp_${randomUUID()}`];
  const isMixed = random(3) > 0;
  for (let step = 1 + random(5); step > 0; step--) {
    if (isMixed && random(3) === 0) person();
    else await agent(one);
  }
  const isLater = random(5) === 0;
  if (isLater) {
    isAlone = false;
    await agent(two);
  }
  if (isMixed && random(2) === 0) person();
  const after = stateOf(root);
  const problem = (what: string, found: unknown): Finding => {
    return { seed, problem: `${what}: ${JSON.stringify(found)}`, story };
  };
  /**
   * Lines that an undo may take away because it says so, and a redo brings them back: those of an edited copy of a file
   * that was written over where no look reads. Undo has read nothing of that file and does not miss it, so it cannot tell
   * the copy from any other file that the command made.
   */
  let excused: ReadonlySet<string> = new Set();
  const undo = async (scope: 'response' | 'redo') => {
    const earlier = stateOf(root);
    const had = personsIn(earlier);
    const done = await folder.undo({ scope, ...(scope === 'response' && { id: one }) });
    story.push(`${scope === 'redo' ? 'redo' : 'undo'}: ${JSON.stringify(done)}`);
    const all = personsIn(stateOf(root));
    const named = personsIn(earlier, (path) => {
      return done[path] === 'doubtful' && !unread.has(earlier[path]?.text ?? '');
    });
    excused = new Set([...named].filter((each) => overwritten.has(each)));
    const gone = [...had].filter((each) => theirs.has(each) && !all.has(each));
    const unexcused = gone.filter((each) => !excused.has(each));
    return scope === 'response' && unexcused.length > 0
      ? problem('the undo deletes', unexcused)
      : undefined;
  };
  const missing = () => {
    const all = personsIn(stateOf(root));
    const lost = [...theirs].filter((each) => !all.has(each) && !excused.has(each));
    return lost.length > 0 && !isLater ? problem('lost', lost) : undefined;
  };
  const differs = (what: string, wanted: object) => {
    const [is, was] = [JSON.stringify(stateOf(root)), JSON.stringify(wanted)];
    // What was brought from where no look reads stays, so only what did not touch it leaves all as it was.
    const isPlain = story.every((line) => !/\b(t|v|node_modules)\b/.test(line));
    return isAlone && isPlain && is !== was ? problem(what, { is, was }) : undefined;
  };
  const first = await undo('response');
  const wrong = first ?? missing() ?? differs('not as before', before);
  if (wrong) return wrong;
  const taken = excused;
  const isTouched = isMixed && random(3) === 0;
  if (isTouched) person();
  await undo('redo');
  const back = personsIn(stateOf(root));
  const left = [...taken].filter((each) => theirs.has(each) && !back.has(each));
  if (left.length > 0 && !isTouched) return problem('the redo does not bring back', left);
  const redone = differs('not as after', after);
  if (redone) return redone;
  if (isMixed && random(3) === 0) person();
  const again = await undo('response');
  return again ?? missing() ?? differs('not as before again', before);
}

/** The person's lines in files, and the names and targets of links. */
function personsIn(state: State, isWanted = (_: string) => true): Set<string> {
  const found = new Set<string>();
  for (const [path, { text }] of Object.entries(state))
    for (const line of text.split('\n'))
      if (isWanted(path) && /^(?:-> )?person/.test(line)) found.add(line);
  return found;
}

/** Whether a look reads what is there, for sure: caches may have been moved. */
function isRead(path: string): boolean {
  return PATHS.some((name) => name === path);
}

type State = Readonly<Record<string, { readonly text: string; readonly mode: number }>>;

/** Files and links below a folder, by their paths. */
function stateOf(root: string, folder = root): State {
  const found = readdirSync(folder, { withFileTypes: true })
    .filter(({ name }) => name !== '.git')
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap((entry) => {
      const path = join(folder, entry.name);
      if (entry.isDirectory()) return Object.entries(stateOf(root, path));
      const text = entry.isSymbolicLink() ? `-> ${readlinkSync(path)}` : readFileSync(path, 'utf8');
      return [[relative(root, path), { text, mode: lstatSync(path).mode & 0o777 }] as const];
    });
  return Object.fromEntries(found);
}
