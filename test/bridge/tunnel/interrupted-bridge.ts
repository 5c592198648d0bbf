/** A bridge that dies in the middle: starts and finishes the calls it is given, says so, and waits to be killed. */
import { Journal } from '../../../bridge/tunnel/journal.ts';

const [path = '', bootId = '', calls = '[]'] = process.argv.slice(2);
const journal = Journal.open(path, bootId);
for (const { callId, effect, isFinished } of JSON.parse(calls)) {
  journal.start({ callId, tool: 'tool', effect, idempotent: false });
  if (isFinished) journal.finish(callId, { status: 'success', data: 'done before the end' });
}
console.log('ready');
setInterval(() => {}, 60_000);
