/** `drawbridge approvals`: the calls and questions that wait for a person, in all conversations. */
import type { Command } from 'commander';
import { ClientError, createClient } from '../../client/index.ts';
import { ApprovalList } from '../../shared/api/listings.ts';
import type { OpenApproval, OpenQuestions } from '../../shared/wire/approvals.ts';
import { writeQuestions } from '../render/clarification.ts';
import { Pen } from '../render/pen.ts';
import { writeApproval } from '../render/run.ts';
import {
  addTargetOptions,
  findTarget,
  type TargetOptions,
  targetWordsOf,
} from '../target/target.ts';
import { ownCommand } from '../terminal/own-command.ts';
import { shortLine } from '../terminal/short-line.ts';
import { jsonLine, openTerminal, type Terminal } from '../terminal/terminal.ts';
import type { Chat } from './chat.ts';
import { answerByLines, type QuestionDesk } from './questions.ts';

interface ApprovalsOptions extends TargetOptions {
  readonly json: boolean;
}

export function registerApprovals(program: Command): void {
  const command = program
    .command('approvals')
    .description('Show calls and questions that wait for your answer; in a terminal, answer them')
    .option('--json', 'print each as a line of JSON; ask nothing', false);
  addTargetOptions(command).action(async (options: ApprovalsOptions) => {
    const target = await findTarget(options);
    const { device, own } = target;
    const terminal = openTerminal(process, process.env, { machine: options.json });
    const place = { client: createClient(target), device, own, terminal };
    await answerApprovals({ ...place, targetWords: targetWordsOf(options) }, options);
  });
}

/** Shows one after the other. Asks until the person leaves one open; the rest is shown only. */
export async function answerApprovals(
  place: Omit<QuestionDesk, 'conversationId'> & Pick<Chat, 'targetWords'>,
  { json }: Pick<ApprovalsOptions, 'json'>,
): Promise<void> {
  const { client, terminal, targetWords } = place;
  const { items, questions } = checked(await client.listApprovals());
  const all = [...items, ...questions];
  if (all.length === 0) terminal.write('No call waits for an approval, and no question waits.\n');
  const { signal } = new AbortController();
  let isAsking = terminal.isInteractive;
  for (const item of all) {
    terminal.writeOut(json ? jsonLine(item) : textOf(item, terminal));
    if (!isAsking) continue;
    const ask =
      'questions' in item
        ? { ...item, kind: 'clarification' as const }
        : { ...item, kind: 'approval' as const };
    const answered = await answerByLines({ ...place, conversationId: undefined }, ask, signal);
    if (answered === 'sent') terminal.write('Your answer was accepted.\n');
    isAsking = answered !== 'open';
  }
  if (questions.length === 0 || isAsking || json) return;
  terminal.write(`Answer questions in a terminal: ${ownCommand('approvals', ...targetWords)}\n`);
}

/** The client takes an answer at its word; what a terminal shows and a person signs has the form of its schema. */
function checked(list: ApprovalList): ApprovalList {
  // A server of an earlier version lists no questions.
  const parsed = ApprovalList.safeParse({ ...list, questions: list.questions ?? [] });
  if (parsed.success) return parsed.data;
  const message = 'A call or question that waits has an unexpected form: update this program.';
  throw new ClientError('BAD_ANSWER', message, { cause: parsed.error });
}

function textOf(item: OpenApproval | OpenQuestions, { paint }: Terminal): string {
  const pen = new Pen(1);
  pen.write(`${shortLine(item.title)}\n`);
  if ('questions' in item) writeQuestions(pen, item.questions, paint);
  else writeApproval(pen, { type: 'approval_request', ...item }, paint);
  return `${pen.text}\n`;
}
