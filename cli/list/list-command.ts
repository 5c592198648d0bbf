/** A group of commands about a list: `list`, and actions on one item of it. */
import type { Command } from 'commander';
import { LocalError } from '../../machine/local-error.ts';
import { askFirst } from '../terminal/confirm.ts';
import { ownCommand } from '../terminal/own-command.ts';
import { shortLine } from '../terminal/short-line.ts';
import { openTerminal, type Terminal } from '../terminal/terminal.ts';
import { type ListFormat, printList } from './print-list.ts';

/** `Source` is what `open` finds by the options, such as a client or a folder: the list is read and changed there. */
export interface ListCommand<Options, Source, Item>
  extends ListFormat<NoInfer<Item>>,
    Naming<NoInfer<Item>> {
  readonly description: string;
  readonly listDescription: string;
  /** Adds the options that `open` takes. */
  addOptions(command: Command): Command;
  open(options: Options): Promise<Source>;
  load(source: Source): Promise<Loaded<Item>>;
  /** For `show <id>`, and before a question about an item: what stands below its row. */
  readonly show?: {
    readonly description: string;
    details(item: Item, terminal: Terminal): Promise<void>;
  };
  readonly actions: readonly ItemAction<Source, NoInfer<Item>>[];
}

/** How a person names an item. */
export interface Naming<Item> {
  /** The words of the group. */
  readonly command: string;
  /** One item in a sentence: `session`. */
  readonly noun: string;
  /** Stands in the first column, whose heading the help of the actions has: `revoke <id>`. */
  id(item: Item): string;
  /** What the item can be called instead of its id. Several items may share a name. */
  name?(item: Item): string;
}

export interface Loaded<Item> {
  readonly items: readonly Item[];
  /** Sentences about entries that cannot be read. */
  readonly problems?: readonly string[];
  /** Texts for a person, below the list. */
  readonly notes?: readonly string[];
}

/** `revoke <id>`, for example. */
export interface ItemAction<Source, Item> {
  readonly name: string;
  readonly description: string;
  /** Begins the sentence that reports the action: `Revoked`. Absent if `run` reports it. */
  readonly done?: string;
  /** Asked before, unless `--yes` is given. */
  readonly ask?: { readonly question: string; readonly declined: string };
  run(item: Item, source: Source, terminal: Terminal): Promise<unknown>;
  /** A further sentence for the report. */
  note?(item: Item): string | undefined;
}

/** Adds the group, which lists if no subcommand is given. Returns it for further subcommands. */
export function listCommand<Options extends object, Source, Item>(
  program: Command,
  list: ListCommand<Options, Source, Item>,
): Command {
  const group = program
    .command(list.command)
    .description(list.description)
    .addHelpText('after', '\nWithout a command, it lists them.');
  const command = group
    .command('list', { isDefault: true })
    .description(list.listDescription)
    .option('--json', `print each ${list.noun} as a line of JSON`, false);
  list.addOptions(command).action(async (options: Options & { readonly json: boolean }) => {
    const terminal = openTerminal(process, process.env, { machine: options.json });
    const { items, problems = [], notes = [] } = await list.load(await list.open(options));
    if (items.length > 0 || problems.length === 0) {
      await printList(terminal, items, list, options.json);
    }
    for (const problem of problems) terminal.write(`${problem}\n`);
    if (!options.json) for (const note of notes) terminal.write(`${note}\n`);
  });
  if (list.show) {
    const run = async (item: Item, _: Source, terminal: Terminal) =>
      await showOne(list, item, terminal);
    addAction(group, list, { ...list.show, name: 'show', run });
  }
  for (const action of list.actions) addAction(group, list, action);
  return group;
}

function addAction<Options extends object, Source, Item>(
  group: Command,
  list: ListCommand<Options, Source, Item>,
  { name, description, done, ask, run, note }: ItemAction<Source, Item>,
): void {
  const [heading = ''] = Object.keys(list.columns);
  const command = group
    .command(name)
    .description(description)
    .argument(`<${heading.toLowerCase()}>`, list.name ? 'its id, or its name' : '');
  if (ask) command.option('-y, --yes', 'do not ask first', false);
  list
    .addOptions(command)
    .action(async (named: string, options: Options & { readonly yes?: boolean }) => {
      const source = await list.open(options);
      const item = findItem((await list.load(source)).items, named, list);
      const terminal = openTerminal(process, process.env);
      if (ask) {
        await showOne(list, item, terminal);
        const how = { unasked: 'add --yes to do it without a question.', otherwise: ask.declined };
        if (!options.yes) await askFirst(terminal, ask.question, how);
      }
      await run(item, source, terminal);
      if (done) terminal.write(`${done} the ${list.noun} ${labelOf(item, list)}.\n`);
      const more = note?.(item);
      if (more) terminal.write(`${more}\n`);
    });
}

/** Shows the item's row with its details. */
async function showOne<Options, Source, Item>(
  list: ListCommand<Options, Source, Item>,
  item: Item,
  terminal: Terminal,
): Promise<void> {
  await printList(terminal, [item], list, false);
  await list.show?.details(item, terminal);
}

/** The item with this id, or the only one with this name. @throws {LocalError} that says how to name one. */
export function findItem<Item>(items: readonly Item[], named: string, naming: Naming<Item>): Item {
  const { command, noun, id, name } = naming;
  const found = items.find((item) => id(item) === named);
  if (found) return found;
  const others = name ? items.filter((item) => name(item) === named) : [];
  const [first] = others;
  if (first && new Set(others.map(id)).size === 1) return first;
  const shown = shortLine(named);
  throw new LocalError(
    'refused',
    first
      ? `The name ${shown} is ambiguous. Give one of these ids: ${others.map(id).join(', ')}.`
      : `There is no ${noun} ${shown}: \`${ownCommand(command)}\` lists them.`,
  );
}

/** The name with the id, or the id alone. */
function labelOf<Item>(item: Item, { id, name }: Naming<Item>): string {
  const [own, called] = [id(item), name?.(item)].map((text = '') => shortLine(text));
  return called && called !== own ? `${called} (${own})` : `${own}`;
}
