/** `drawbridge audit`: what other accounts did at the bridge of a folder, and who did what in an account or at a server. */
import { type Command, Option } from 'commander';
import type { AuditRecord } from '../../bridge/grantees/audit.ts';
import { createClient } from '../../client/index.ts';
import { locateState } from '../../local/state/folder.ts';
import { type ActRecord, ActRecordList } from '../../shared/api/records.ts';
import { nameInLine } from '../../shared/text/plain-sight.ts';
import { findLocation } from '../target/location-options.ts';
import { findOperated, type OperatorOptions } from '../target/operator.ts';
import { entriesOf } from '../target/pages.ts';
import { addTargetOptions, findTarget, type TargetOptions } from '../target/target.ts';
import { jsonLine, openTerminal } from '../terminal/terminal.ts';
import { UsageError } from '../terminal/usage-error.ts';

interface AuditOptions extends TargetOptions, OperatorOptions {
  readonly json: boolean;
  readonly server: boolean;
  readonly operator: boolean;
}

/** Adds the command. */
export function registerAudit(program: Command): void {
  const audit = program
    .command('audit')
    .description(
      'Show records of this folder: calls of other accounts, answers to questions, enrolments',
    )
    .addOption(
      new Option('--server', 'instead: logins, exports and deletions in your account')
        .default(false)
        .conflicts('operator'),
    )
    .option('--operator', 'instead: changes of keys and accounts by operators of the server', false)
    .option('--secret-file <file>', 'the file with its AUTH_SECRET; goes with --operator and --url')
    .option('--json', 'print each record as a line of JSON', false);
  addTargetOptions(audit).action(showAll);
}

async function showAll({ json, server, operator, ...options }: AuditOptions): Promise<void> {
  const terminal = openTerminal(process, process.env, { machine: json });
  let count = 0;
  const show = <Shown>(record: Shown, line: (record: Shown) => string) => {
    count++;
    terminal.writeOut(json ? jsonLine(record) : `${line(record)}\n`);
  };
  if (server || operator) {
    const pages = await (operator ? operatorPages(options) : accountPages(options));
    for await (const record of entriesOf(pages)) show(record, lineOfAct);
  } else for (const record of await readOfFolder(options)) show(record, lineOf);
  if (count === 0 && !json) terminal.write('There is no record.\n');
}

type Pages = (cursor: string | undefined) => Promise<ActRecordList>;

async function accountPages(options: TargetOptions): Promise<Pages> {
  const client = createClient(await findTarget(options));
  return (cursor) => client.listRecords({ cursor });
}

async function operatorPages(options: OperatorOptions): Promise<Pages> {
  const operate = await findOperated(options);
  return (cursor) => {
    const query = cursor === undefined ? '' : `?cursor=${encodeURIComponent(cursor)}`;
    return operate(ActRecordList, `operator/records${query}`);
  };
}

async function readOfFolder(options: TargetOptions): Promise<AuditRecord[]> {
  if (options.url !== undefined) throw new UsageError('--url goes with --server or --operator.');
  const { readAudit } = await import('../../bridge/grantees/audit.ts');
  const { projectDir } = await locateState(await findLocation(options, 'kept'));
  return await readAudit(projectDir);
}

/** Devices name themselves, and apps name their users. */
function lineOfAct({ at, session, action, subject }: ActRecord): string {
  return [at, session ?? '-', action, subject].map(nameInLine).join('  ');
}

/** Every text of a record may come from the edge. */
function lineOf(record: AuditRecord): string {
  return [record.time, ...cellsOf(record).map(nameInLine)].join('  ').trimEnd();
}

function cellsOf(record: AuditRecord): readonly string[] {
  switch (record.type) {
    case 'call': {
      const { conversation, account, tool, outcome, subject = '' } = record;
      return [conversation, account, tool, outcome, subject];
    }
    case 'answer': {
      const { conversation, by, tool, decision, signature } = record;
      return [conversation, `answer by ${by}`, tool, decision, signature?.deviceId ?? ''];
    }
    case 'hook': {
      const { conversation, source, tool, decision, reason = '' } = record;
      return [conversation, `hook of ${source}`, tool, decision, reason];
    }
    case 'enrolment':
      return [record.device, `enrolled by ${record.by}`, record.label];
  }
}
