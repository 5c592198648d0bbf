/** `drawbridge approvals`: the calls that wait for a person, in all conversations. */
import type { Command } from 'commander';
import { ClientError, createClient } from '../../client/index.ts';
import { ApprovalList, type OpenApproval } from '../../shared/listings.ts';
import { printableLine } from '../../shared/plain-sight.ts';
import { RENDER_LIMITS } from '../limits.ts';
import { Pen } from '../render/pen.ts';
import { writeApproval } from '../render/run.ts';
import { addTargetOptions, findTarget, type TargetOptions } from '../target/target.ts';
import { EXIT_HELP } from '../terminal/exit-codes.ts';
import { jsonLine, openTerminal, type Terminal } from '../terminal/terminal.ts';
import { type Asking, askApproval } from './approvals.ts';

interface ApprovalsOptions extends TargetOptions {
  readonly json: boolean;
}

export function registerApprovals(program: Command): void {
  const command = program
    .command('approvals')
    .description('Show the calls that wait for your approval; in a terminal, answer them')
    .option('--json', 'print each as a line of JSON; ask nothing', false)
    .addHelpText('after', EXIT_HELP);
  addTargetOptions(command).action(async (options: ApprovalsOptions) => {
    const { url, token, device, own } = await findTarget(options);
    const terminal = openTerminal(process, process.env, { machine: options.json });
    await answerApprovals({ client: createClient({ url, token }), device, own, terminal }, options);
  });
}

/** Shows one after the other. Asks until the person leaves one open; the rest is shown only. */
export async function answerApprovals(
  place: Omit<Asking, 'conversationId'>,
  { json }: Pick<ApprovalsOptions, 'json'>,
): Promise<void> {
  const { client, terminal } = place;
  const items = checked(await client.listApprovals());
  if (items.length === 0) terminal.write('No call waits for an approval.\n');
  let isAsking = terminal.isInteractive;
  for (const item of items) {
    terminal.writeOut(json ? jsonLine(item) : textOf(item, terminal));
    const asking = { ...place, conversationId: item.conversationId };
    if (!isAsking) continue;
    const answered = await askApproval(asking, item, new AbortController().signal);
    if (answered === 'sent') terminal.write('Your answer was taken.\n');
    isAsking = answered !== 'open';
  }
}

/** The client takes an answer at its word; what a terminal shows and a person signs has the form of its schema. */
function checked(list: ApprovalList): OpenApproval[] {
  const parsed = ApprovalList.safeParse(list);
  if (parsed.success) return parsed.data.items;
  const message = 'A call that waits for an approval has an unexpected form: update this program.';
  throw new ClientError('BAD_ANSWER', message, { cause: parsed.error });
}

function textOf(item: OpenApproval, { paint }: Terminal): string {
  const pen = new Pen(1);
  pen.write(`${printableLine(item.title, RENDER_LIMITS.maxSummaryChars)}\n`);
  writeApproval(pen, { type: 'approval_request', ...item }, paint);
  return `${pen.text}\n`;
}
