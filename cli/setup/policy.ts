/** `drawbridge policy`: the owner's rules for what runs, what asks and what is refused. */
import { dirname } from 'node:path';
import type { Command } from 'commander';
import type { ListedRule } from '../../bridge/admission/listed-rules.ts';
import type { OwnersFiles } from '../../bridge/admission/rules.ts';
import { locateState } from '../../local/state/folder.ts';
import { openState } from '../../local/state/state.ts';
import { configFolder } from '../../machine/config-folder.ts';
import { LocalError } from '../../machine/local-error.ts';
import { changeRules } from '../../machine/owner-rules.ts';
import { makePrivateFolders } from '../../machine/private-files.ts';
import { nameInLine } from '../../shared/text/plain-sight.ts';
import {
  addLocationOptions,
  findLocation,
  type LocationOptions,
} from '../target/location-options.ts';
import { shortLine } from '../terminal/short-line.ts';
import { jsonLine, openTerminal } from '../terminal/terminal.ts';
import { UsageError } from '../terminal/usage-error.ts';

/** Adds the command, which lists if no subcommand is given. */
export function registerPolicy(program: Command): void {
  const group = program
    .command('policy')
    .description('List, add or revoke your rules for what runs without a question')
    .addHelpText('after', `\nWithout a command, it lists them. The last rule that matches wins.`);
  const list = group
    .command('list', { isDefault: true })
    .description('List the rules for all projects, then those for this one')
    .option('--json', 'print each rule as a line of JSON', false);
  addLocationOptions(list).action(listRules);
  const add = group
    .command('add <decision> <tool> [pattern]')
    .description('Add a rule: allow, ask or deny; a tool or category; a path, command or address')
    .option('--everywhere', 'for all projects of this machine', false);
  addLocationOptions(add).action(addRule);
  const revoke = group.command('revoke <id>').description('Remove a rule');
  addLocationOptions(revoke).action(revokeRule);
}

async function listRules(options: LocationOptions & { readonly json: boolean }): Promise<void> {
  const { listOwnersRules } = await import('../../bridge/admission/listed-rules.ts');
  const { rules, preset } = await listOwnersRules(await filesOf(options));
  const terminal = openTerminal(process, process.env);
  for (const each of rules) {
    terminal.writeOut(
      options.json
        ? jsonLine({ id: each.id, scope: each.scope, ...each.rule })
        : `${lineOf(each)}\n`,
    );
  }
  if (options.json) return;
  if (preset !== undefined) terminal.write(`The preset is ${preset}.\n`);
  if (rules.length === 0) terminal.write('There is no rule of yours.\n');
}

async function addRule(
  decision: string,
  tool: string,
  pattern: string | undefined,
  options: LocationOptions & { readonly everywhere: boolean },
): Promise<void> {
  const { idleRules, Rule: RuleForm } = await import('../../bridge/admission/rules.ts');
  const { idOfRule } = await import('../../bridge/admission/listed-rules.ts');
  const parsed = RuleForm.safeParse({ tool, ...(pattern !== undefined && { pattern }), decision });
  if (!parsed.success) {
    const [{ path, message } = { path: [], message: '' }] = parsed.error.issues;
    throw new UsageError(`${path.join('.')}: ${message}`);
  }
  if (!options.everywhere) await openState(await findLocation(options, 'kept'));
  const { project, everywhere } = await filesOf(options);
  const file = options.everywhere ? everywhere : project;
  if (file === undefined) throw new LocalError('refused', NO_HOME);
  if (options.everywhere) makePrivateFolders(dirname(file));
  const { data: rule } = parsed;
  await changeRules(file, (rules) => [...rules, rule]);
  const terminal = openTerminal(process, process.env);
  const scope = options.everywhere ? 'everywhere' : 'project';
  terminal.writeOut(`${lineOf({ id: idOfRule(scope, rule), scope, rule })}\n`);
  for (const sentence of idleRules({ rules: [rule], trustsNetwork: false })) {
    terminal.write(`${sentence}\n`);
  }
}

async function revokeRule(id: string, options: LocationOptions): Promise<void> {
  const { idOfRule, listOwnersRules } = await import('../../bridge/admission/listed-rules.ts');
  const files = await filesOf(options);
  const found = (await listOwnersRules(files)).rules.find((each) => each.id === id);
  const file = found?.scope === 'project' ? files.project : files.everywhere;
  if (!found || file === undefined) {
    throw new LocalError(
      'refused',
      `There is no rule ${shortLine(id)}: "policy list" shows the ids.`,
    );
  }
  const { Rule: RuleForm } = await import('../../bridge/admission/rules.ts');
  await changeRules(file, (rules) =>
    rules.filter((each) => idOfRule(found.scope, RuleForm.parse(each)) !== id),
  );
  openTerminal(process, process.env).write(`Revoked: ${lineOf(found)}\n`);
}

async function filesOf(options: LocationOptions): Promise<OwnersFiles> {
  const { ownersFiles } = await import('../../bridge/admission/rules.ts');
  const { projectDir } = await locateState(await findLocation(options, 'kept'));
  return ownersFiles(projectDir, configFolder(process.env));
}

const NO_HOME = 'There is no home folder: set HOME or XDG_CONFIG_HOME.';

function lineOf({ id, scope, rule: { tool, pattern, decision, ...more } }: ListedRule): string {
  const where = scope === 'everywhere' ? 'all projects' : 'this project';
  const rest = Object.entries(more).map(([name, value]) => `${name} ${JSON.stringify(value)}`);
  return [id, where, decision, nameInLine(tool), nameInLine(pattern), ...rest].join('  ');
}
