/** A bridge that dies over an edit: it carries one call out up to a moment, says so, and waits to be killed. */
import { Asking } from '../../../bridge/admission/asking.ts';
import { CallLife } from '../../../bridge/admission/call-life.ts';
import { createFileTools } from '../../../bridge/tools/catalogue.ts';
import { Journal } from '../../../bridge/tunnel/journal.ts';
import { ReadLedger } from '../../../packages/host/ledger.ts';
import type { BridgeTool } from '../../../packages/host/tool.ts';
import { Workspace } from '../../../packages/workspace/workspace.ts';
import { roomsOf } from '../one-room.ts';

const { root, path, call, moment } = JSON.parse(process.argv[2] ?? '');

/** Stops behind the journal's note of the start, before or after the file is changed. */
function stopping({ definition, read }: BridgeTool): BridgeTool {
  return {
    definition,
    read: (given, conversationId) => {
      const { propose, ...rest } = read(given, conversationId);
      return {
        ...rest,
        propose: async (context) => {
          const proposed = await propose(context);
          return {
            ...proposed,
            apply: async (latest) => {
              if (moment === 'after') await proposed.apply(latest);
              console.log('ready');
              return await new Promise(() => setInterval(() => {}, 60_000));
            },
          };
        },
      };
    },
  };
}

const journal = Journal.open(path, crypto.randomUUID());
const asking = new Asking({
  bridgeId: 'bridge_1',
  book: journal,
  askers: [],
  onRequested: () => {},
  onResolved: () => {},
});
const tools = new Map(createFileTools().map((tool) => [tool.definition.name, stopping(tool)]));
const life = new CallLife({
  rooms: roomsOf({
    workspace: await Workspace.open(root),
    tools,
    judge: async () => ({ decision: 'allow', reason: 'the test says so' }),
  }),
  guards: [],
  asking,
  journal,
  ledger: new ReadLedger(),
  grantees: { enter: async () => undefined },
});
await life.run(call, { signal: new AbortController().signal, onOutput: () => {} });
