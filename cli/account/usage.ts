/** `drawbridge usage`: what the account's responses have spent, by day and model. */
import { type Command, InvalidArgumentError } from 'commander';
import { type Client, createClient } from '../../client/index.ts';
import { addEntries, Day, type UsageEntry } from '../../shared/api/usage.ts';
import { MODEL_LIMITS } from '../../shared/limits.ts';
import { printableLine } from '../../shared/text/plain-sight.ts';
import { alignedLines } from '../render/table.ts';
import { entriesOf } from '../target/pages.ts';
import { addTargetOptions, findTarget, type TargetOptions } from '../target/target.ts';
import { jsonLine, openTerminal, type Terminal } from '../terminal/terminal.ts';

/** The options as commander parses them. */
interface UsageOptions extends TargetOptions {
  readonly from?: string;
  readonly to?: string;
  readonly json: boolean;
}

export function registerUsage(program: Command): void {
  const command = program
    .command('usage')
    .description('Show the tokens and costs of your responses, by day and model (days of UTC)')
    .option(
      '--from <day>',
      'the first day, such as 2026-11-01 (default: 30 days ending with --to)',
      parseDay,
    )
    .option('--to <day>', 'the last day (default: today)', parseDay)
    .option('--json', 'print each entry as a line of JSON', false);
  addTargetOptions(command).action(async (options: UsageOptions) => {
    const client = createClient(await findTarget(options));
    const terminal = openTerminal(process, process.env, { machine: options.json });
    await showUsage(client, terminal, options);
  });
}

function parseDay(text: string): string {
  if (Day.safeParse(text).success) return text;
  throw new InvalidArgumentError('It must be a day such as 2026-11-01.');
}

/** A person gets a table with a last line for all; a program gets one line for each entry, with tabs or as JSON. */
async function showUsage(
  client: Client,
  terminal: Terminal,
  { from, to, json }: UsageOptions,
): Promise<void> {
  const entries: UsageEntry[] = [];
  for await (const entry of entriesOf((cursor) => client.listUsage({ from, to, cursor }))) {
    if (json) terminal.writeOut(jsonLine(entry));
    else entries.push(entry);
  }
  if (json) return;
  const { columns, paint } = terminal;
  if (entries.length === 0) return terminal.write('Nothing was spent.\n');
  if (columns === undefined) {
    for (const entry of entries) terminal.writeOut(`${cellsOf(entry).join('\t')}\n`);
    return;
  }
  const all = entries.reduce(addEntries);
  const rows = [HEADER, ...entries.map(cellsOf), cellsOf({ ...all, day: 'ALL', model: '' })];
  // The two words at the left and the costs begin at the left of their column, numbers end at the right.
  const isNumber = (column: number) => column > 1 && column < HEADER.length - 1;
  const [head = '', ...lines] = alignedLines(rows, isNumber);
  terminal.writeOut(`${paint('dim', head)}\n`);
  for (const line of lines) terminal.writeOut(`${line}\n`);
  if (all.unreportedRequests > 0) terminal.write(`${missing(all.unreportedRequests)}\n`);
}

const HEADER = ['DAY', 'MODEL', 'RESPONSES', 'INPUT', 'CACHED', 'OUTPUT', 'COST'];

function cellsOf(entry: UsageEntry): string[] {
  const { day, model, responses, promptTokens, cachedPromptTokens, totalTokens, costs } = entry;
  // Some servers count reasoning only in the total.
  const output = Math.max(entry.completionTokens, totalTokens - promptTokens);
  const numbers = [responses, promptTokens, cachedPromptTokens, output].map(String);
  const cost = costs.map(({ amount, currency }) => `${decimal(amount)} ${currency}`).join(', ');
  return [
    day,
    printableLine(model, MODEL_LIMITS.maxNameChars),
    ...numbers,
    printableLine(cost, 100),
  ];
}

function decimal(amount: number): string {
  return amount.toFixed(MODEL_LIMITS.costDecimals).replace(/0+$/, '').replace(/\.$/, '');
}

function missing(requests: number): string {
  return `The model servers reported no tokens for ${requests} ${requests === 1 ? 'request' : 'requests'}, which are missing here.`;
}
