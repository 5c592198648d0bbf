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
import { listCommand, type Naming } from '../list/list-command.ts';
import { type ListFormat, printList } from '../list/print-list.ts';
import {
  addLocationOptions,
  findLocation,
  type LocationOptions,
} from '../target/location-options.ts';
import { openTerminal } from '../terminal/terminal.ts';
import { UsageError } from '../terminal/usage-error.ts';

/** Adds the command, which lists if no subcommand is given. */
export function registerPolicy(program: Command): void {
  const group = listCommand(program, {
    ...RULES,
    description: 'List, add or revoke your rules for what runs without a question',
    listDescription: 'List the rules for all projects, then those for this one',
    addOptions: addLocationOptions,
    open: filesOf,
    load: async (files: OwnersFiles) => {
      const { listOwnersRules } = await import('../../bridge/admission/listed-rules.ts');
      const { rules: items, preset } = await listOwnersRules(files);
      return { items, notes: preset === undefined ? [] : [`The preset is ${preset}.`] };
    },
    actions: [{ name: 'revoke', description: 'Revoke a rule', done: 'Revoked', run: revokeRule }],
  }).addHelpText('after', 'The last rule that matches wins.');
  const add = group
    .command('add <decision> <tool> [pattern]')
    .description('Add a rule: allow, ask or deny; a tool or category; a path, command or address')
    .option('--everywhere', 'for all projects of this machine', false);
  addLocationOptions(add).action(addRule);
}

const RULES: Naming<ListedRule> & ListFormat<ListedRule> = {
  command: 'policy',
  noun: 'rule',
  id: ({ id }) => id,
  /** As it is typed for `policy add`. */
  name: ({ rule: { decision, tool, pattern } }) => `${decision} ${tool} ${pattern}`,
  json: ({ id, scope, rule }) => ({ id, scope, ...rule }),
  columns: {
    ID: ({ id }) => id,
    FOR: ({ scope }) => (scope === 'everywhere' ? 'all projects' : 'this project'),
    DECISION: ({ rule }) => rule.decision,
    TOOL: ({ rule }) => rule.tool,
    PATTERN: ({ rule }) => rule.pattern,
    MORE: ({ rule: { tool: _, pattern: __, decision: ___, ...more } }) =>
      Object.keys(more).length > 0 ? JSON.stringify(more) : '',
  },
  empty: 'There is no rule of yours.',
};

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
  await printList(terminal, [{ id: idOfRule(scope, rule), scope, rule }], RULES, false);
  for (const sentence of idleRules({ rules: [rule], trustsNetwork: false })) {
    terminal.write(`${sentence}\n`);
  }
}

async function revokeRule({ id, scope }: ListedRule, files: OwnersFiles): Promise<void> {
  const { idOfRule } = await import('../../bridge/admission/listed-rules.ts');
  const { Rule: RuleForm } = await import('../../bridge/admission/rules.ts');
  const file = files[scope];
  if (file === undefined) throw new LocalError('refused', NO_HOME);
  await changeRules(file, (rules) =>
    rules.filter((each) => idOfRule(scope, RuleForm.parse(each)) !== id),
  );
}

async function filesOf(options: LocationOptions): Promise<OwnersFiles> {
  const { ownersFiles } = await import('../../bridge/admission/rules.ts');
  const { projectDir } = await locateState(await findLocation(options, 'kept'));
  return ownersFiles(projectDir, configFolder(process.env));
}

const NO_HOME = 'There is no home folder: set HOME or XDG_CONFIG_HOME.';
