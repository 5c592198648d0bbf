/** The real Worker with a road to fill an account: by the statements of each answer, without a model and HTTP. */
import type { Env } from '../../worker/env.ts';
import worker, {
  Conversation,
  Directory,
  Account as RealAccount,
  Tunnel,
} from '../../worker/index.ts';

export { Conversation, Directory, Tunnel };

/** `POST /bench/fill` lists conversations, and makes the first of them as copies of one (bench/neighbours.ts). */
export default {
  async fetch(request, env, context) {
    if (new URL(request.url).pathname !== '/bench/fill') return worker.fetch(request, env, context);
    const { account, from, ids, real }: Fill = await request.json();
    const listing: unknown = env.ACCOUNTS.get(env.ACCOUNTS.idFromName(account));
    await (listing as Account).fill(ids);
    for (const conversationId of ids.slice(0, real)) {
      const { CONVERSATIONS: objects } = env;
      const copy = objects.get(objects.idFromName(conversationId));
      await copy.fork({ account, conversationId }, { from, ordinal: 1, through: true });
    }
    return new Response();
  },
} satisfies ExportedHandler<Env>;

interface Fill {
  readonly account: string;
  /** The conversation to copy. */
  readonly from: string;
  readonly ids: readonly string[];
  /** How many of them are made, and not only listed. */
  readonly real: number;
}

export class Account extends RealAccount {
  fill(ids: readonly string[]): void {
    for (const id of ids) {
      const known = { id, title: `About ${id}`, archived: false, bridgeId: null };
      const state = { isRunning: false, hasSubagents: false, spent: null };
      const times = { createdMs: Date.now(), updatedMs: Date.now() };
      this.begin({ ...known, ...state, ...times });
      this.answered({ ...known, ...state, ...times, text: TEXT });
    }
  }
}

/** The searchable text of a short conversation. */
const TEXT = 'Please look why the tests of the parser fail on the other machine. '.repeat(50);
