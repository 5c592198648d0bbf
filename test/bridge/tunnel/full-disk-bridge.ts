/** A bridge whose journal has no more room: it is started with a limit on the size of files, and says what it could do. */
import { JournalUnwritable } from '../../../bridge/admission/book.ts';
import { Journal } from '../../../bridge/tunnel/journal.ts';

const [path = '', bootId = '', ...callIds] = process.argv.slice(2);
const journal = Journal.open(path, bootId);
const data = 'x'.repeat(1_000);
const outcomes = callIds.map((callId, index) => {
  const isRead = index % 2 === 0;
  try {
    const tool = { callId, tool: 'tool', effect: isRead ? 'read' : 'execute' } as const;
    journal.start({ ...tool, idempotent: false });
    journal.finish(callId, { status: 'success', data });
    return 'ran';
  } catch (error) {
    return error instanceof JournalUnwritable ? 'refused' : String(error);
  }
});
process.stdout.write(JSON.stringify(outcomes));
