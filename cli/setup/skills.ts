/** `drawbridge skills` and `drawbridge hooks`: what people have for other programs, and what of it counts here. */
import type { Command } from 'commander';
import type { FoundHook, FoundHooks } from '../../bridge/hooks/find.ts';
import { locateState } from '../../local/state/folder.ts';
import { openState } from '../../local/state/state.ts';
import { configFolder } from '../../machine/config-folder.ts';
import { nameInLine } from '../../shared/text/plain-sight.ts';
import type { Skill } from '../../shared/wire/skills.ts';
import {
  addLocationOptions,
  findLocation,
  type LocationOptions,
} from '../target/location-options.ts';
import { askFirst } from '../terminal/confirm.ts';
import { ownCommand } from '../terminal/own-command.ts';
import { shortLine } from '../terminal/short-line.ts';
import { jsonLine, openTerminal, type Terminal } from '../terminal/terminal.ts';

interface SkillListOptions extends LocationOptions {
  readonly json: boolean;
}

/** Adds both commands. */
export function registerSkills(program: Command): void {
  const skills = program
    .command('skills')
    .description('List the skills and commands of this folder and your own, and those left out')
    .option('--json', 'print one line of JSON', false);
  addLocationOptions(skills).action(listSkills);
  const hooks = program
    .command('hooks')
    .description('List the hooks of this folder and of your own, or let them run')
    .addHelpText('after', '\nWithout a command, it lists them. None runs before you trust it.');
  const list = hooks
    .command('list', { isDefault: true })
    .description('List the hooks, what each runs, and whether you trust it')
    .option('--json', 'print one line of JSON', false);
  addLocationOptions(list).action(listHooks);
  const trust = hooks.command('trust').description('Let the hooks run as they are now');
  addLocationOptions(trust).action(trustHooks);
  const forget = hooks
    .command('forget')
    .description('Withdraw your trust in the hooks of this folder');
  addLocationOptions(forget).action(forgetHooks);
}

async function listSkills(options: SkillListOptions): Promise<void> {
  const { workspace, stateDir } = await placeOf(options);
  const { readShowable } = await import('../../bridge/admission/judge.ts');
  const { placesOf } = await import('../../bridge/skills/places.ts');
  const { Skills } = await import('../../bridge/skills/skills.ts');
  const configDir = configFolder(process.env);
  const isForeign = async () => false;
  const showable = await readShowable({
    root: workspace.root,
    stateDir,
    configDir,
    isForeign,
    workspace,
  });
  const { signal } = new AbortController();
  const found = await new Skills(workspace, placesOf(configDir)).look({ ...showable, signal });
  const { skills, leftOut } = found ?? { skills: [], leftOut: [] };
  const terminal = openTerminal(process, process.env, { machine: options.json });
  if (options.json) return terminal.writeOut(jsonLine({ skills, leftOut }));
  for (const skill of skills) terminal.writeOut(`${lineOfSkill(skill)}\n`);
  for (const { path, reason } of leftOut) {
    terminal.writeOut(`left out  ${nameInLine(path)}: ${nameInLine(reason)}\n`);
  }
  if (skills.length + leftOut.length === 0) terminal.write('There is no skill and no command.\n');
  const hooks = await findAllHooks(options);
  const count = hooks.hooks.length + hooks.idle.length + hooks.broken.length;
  if (count > 0) terminal.write(`There are hooks, too: \`${ownCommand('hooks')}\` lists them.\n`);
}

const CALLERS: Readonly<Record<Skill['callers'], string>> = {
  anyone: '',
  model: 'only the model activates it',
  person: 'only you call it',
};

function lineOfSkill({
  type,
  name,
  path,
  description,
  callers,
  takes,
  tools,
  note,
}: Skill): string {
  const notes = [
    type === 'skill' ? CALLERS[callers] : '',
    tools === undefined ? '' : `asks for ${tools}, which has no effect`,
    note ?? '',
  ].filter((text) => text !== '');
  const called = takes === undefined ? `/${name}` : `/${name} ${takes}`;
  const cells = [type, called, path, description, ...notes];
  return cells.map(nameInLine).join('  ');
}

async function listHooks(options: SkillListOptions): Promise<void> {
  const found = await findAllHooks(options);
  const terminal = openTerminal(process, process.env, { machine: options.json });
  if (options.json) return terminal.writeOut(jsonLine(found));
  describe(terminal, found);
  const isOpen = found.hooks.some(({ isTrusted }) => !isTrusted) || found.missing.length > 0;
  if (isOpen) terminal.write(`\`${ownCommand('hooks', 'trust')}\` asks whether they may run.\n`);
}

/** One question about all, at this terminal alone. */
async function trustHooks(options: LocationOptions): Promise<void> {
  const { writeTrusted } = await import('../../bridge/hooks/trust.ts');
  await openState(await findLocation(options, 'kept'));
  const { stateDir } = await placeOf(options);
  const found = await findAllHooks(options);
  const terminal = openTerminal(process, process.env);
  describe(terminal, found);
  const question =
    'They run in the sandbox before calls of the agent, and can only ask or forbid. Trust them as they are now?';
  const unasked = 'trust hooks at a terminal of this machine.';
  await askFirst(terminal, question, { unasked, otherwise: 'Nothing was changed.' });
  const time = new Date().toISOString();
  const trusted = found.hooks.map(({ digest, hook: { source, command } }) => ({
    digest,
    source,
    command,
    time,
  }));
  writeTrusted(stateDir, trusted);
  terminal.write(`Trusted hooks: ${trusted.length}. A hook that changes needs your trust again.\n`);
}

async function forgetHooks(options: LocationOptions): Promise<void> {
  const { writeTrusted } = await import('../../bridge/hooks/trust.ts');
  await openState(await findLocation(options, 'kept'));
  const { stateDir } = await placeOf(options);
  writeTrusted(stateDir, []);
  openTerminal(process, process.env).write('No hook runs here any more.\n');
}

async function findAllHooks(options: LocationOptions): Promise<FoundHooks> {
  const { findHooks } = await import('../../bridge/hooks/find.ts');
  return await findHooks(await placeOf(options));
}

async function placeOf(options: LocationOptions) {
  const { Workspace } = await import('../../packages/workspace/index.ts');
  const { workspaceDir, projectDir } = await locateState(await findLocation(options, 'kept'));
  return { workspace: await Workspace.open(workspaceDir), stateDir: projectDir };
}

function describe(
  { write, writeOut }: Terminal,
  { hooks, idle, missing, broken }: FoundHooks,
): void {
  for (const found of hooks) writeOut(`${lineOfHook(found)}\n`);
  for (const { source, event, reason } of idle) {
    writeOut(`not run   ${nameInLine(source)}  ${nameInLine(event)}: ${nameInLine(reason)}\n`);
  }
  for (const { source, command } of missing) {
    writeOut(`changed   ${nameInLine(source)}  ${nameInLine(command)}: ${CHANGED}\n`);
  }
  for (const { source, reason } of broken) {
    writeOut(`broken    ${nameInLine(source)}: ${nameInLine(reason)}\n`);
  }
  if (hooks.length + idle.length + missing.length + broken.length === 0) {
    write('There is no hook.\n');
  }
}

const CHANGED = 'changed or removed since you trusted it, so calls that change something ask';

function lineOfHook({ hook, isTrusted, files }: FoundHook): string {
  const { source, event, matcher, command } = hook;
  const about = matcher === undefined ? event : `${event} of ${matcher}`;
  const named = files.length === 0 ? [] : [`with ${files.join(', ')}`];
  const state = isTrusted ? 'trusted ' : 'untrusted';
  return [state, ...[source, about, command, ...named].map(shortLine)].join('  ');
}
