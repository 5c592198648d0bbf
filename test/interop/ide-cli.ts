/** The IDE client of a real CLI, over IPC, in a process that has its own folder and home. The argument: its module. */
import * as z from 'zod';

interface IdeClient {
  connect(): Promise<void>;
  getConnectionStatus(): { readonly status: string; readonly details?: string };
  isDiffingEnabled(): boolean;
  openDiff(filePath: string, newContent: string): Promise<unknown>;
  resolveDiffFromCli(filePath: string, outcome: 'accepted' | 'rejected'): Promise<void>;
}

interface IdeModule {
  readonly IdeClient: { getInstance(): Promise<IdeClient> };
  readonly ideContextStore: { get(): unknown };
}

const Order = z.tuple([z.number(), z.string(), z.array(z.string())]);

const [clientUrl = '', contextUrl = clientUrl] = process.argv.slice(2);
const { IdeClient }: IdeModule = await import(clientUrl);
const { ideContextStore }: IdeModule = await import(contextUrl);
const client = await IdeClient.getInstance();

const deeds: Record<string, (...args: string[]) => unknown> = {
  connect: () => client.connect(),
  status: () => client.getConnectionStatus(),
  canDiff: () => client.isDiffingEnabled(),
  context: () => ideContextStore.get(),
  openDiff: (path = '', content = '') => client.openDiff(path, content),
  accept: (path = '') => client.resolveDiffFromCli(path, 'accepted'),
};

process.on('message', async (message) => {
  const [id, name, args] = Order.parse(message);
  try {
    process.send?.([id, (await deeds[name]?.(...args)) ?? null]);
  } catch (error) {
    process.send?.([id, null, String(error)]);
  }
});
process.on('disconnect', () => process.exit());
process.send?.('ready');
