/** `drawbridge audit`: what other accounts did at the bridge of a folder, what people answered, and which devices a secret has enrolled. */
import type { Command } from 'commander';
import type { AuditRecord } from '../../bridge/grantees/audit.ts';
import { locateState } from '../../local/state/folder.ts';
import { nameInLine } from '../../shared/text/plain-sight.ts';
import {
  addLocationOptions,
  findLocation,
  type LocationOptions,
} from '../target/location-options.ts';
import { jsonLine, openTerminal } from '../terminal/terminal.ts';

/** Adds the command. */
export function registerAudit(program: Command): void {
  const audit = program
    .command('audit')
    .description(
      'Show what other accounts did in this folder, answers to questions, and enrolled devices',
    )
    .option('--json', 'print each record as a line of JSON', false);
  addLocationOptions(audit).action(showAll);
}

async function showAll(options: LocationOptions & { readonly json: boolean }): Promise<void> {
  const { readAudit } = await import('../../bridge/grantees/audit.ts');
  const { projectDir } = await locateState(await findLocation(options, 'kept'));
  const records = await readAudit(projectDir);
  const terminal = openTerminal(process, process.env);
  for (const record of records) {
    terminal.writeOut(options.json ? jsonLine(record) : `${lineOf(record)}\n`);
  }
  if (records.length === 0 && !options.json) terminal.write('There is no record.\n');
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
    case 'enrolment':
      return [record.device, `enrolled by ${record.by}`, record.label];
  }
}
