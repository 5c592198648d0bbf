/** Answers a person's question about the processes of a bridge. */
import type { ProcessAsk, ProcessReport } from '../../shared/wire/processes.ts';
import { ToolFailure } from '../failure.ts';
import { logTrouble } from '../log.ts';
import type { ProcessBook } from '../terminal/process-book.ts';
import { listProcesses, shortened } from '../tools/process-listing.ts';
import type { OpenPorts } from './open-ports.ts';

/** Does what is asked first. A port that is not opened is no failure of the list. Does not reject. */
export async function reportProcesses(
  book: ProcessBook,
  ports: OpenPorts,
  { stop, port }: ProcessAsk,
): Promise<ProcessReport> {
  const refused = port && (await changePort(ports, port));
  const named = stop ?? port?.processId;
  const listed = await listProcesses(book, { stop, first: named });
  const items = listed.map((item) => {
    const open = ports.of(item.id);
    return open.length > 0 ? { ...item, ports: open } : item;
  });
  return { items, ...(refused !== undefined && { refused }) };
}

async function changePort(
  ports: OpenPorts,
  port: NonNullable<ProcessAsk['port']>,
): Promise<string | undefined> {
  try {
    await ports.change(port);
    return undefined;
  } catch (error) {
    if (error instanceof ToolFailure) return shortened(error.message);
    logTrouble({ event: 'process_port_failed' }, 'A port could not be changed', error);
    return 'The port could not be changed: see the log of the bridge.';
  }
}
