/**
 * A real bridge in a process of its own that offers one tool: it notes each call in the workspace, and `wait` never ends.
 * SIGUSR2 has its server change the tool's definition.
 */
import { appendFile } from 'node:fs/promises';
import { join } from 'node:path';
import { runBridge } from '../../bridge/run.ts';
import { Offers } from '../../packages/host/offers.ts';
import { fakeDefinition } from '../far-ends/fake-offer.ts';

const ending = new AbortController();
process.once('SIGTERM', () => ending.abort());
const own = { environment: process.env, asksAtTerminal: false };
const config = { ...JSON.parse(process.argv[2] ?? ''), ...own };
const offers = new Offers();

function offer(description: string): void {
  const call = async ({ word }: Record<string, unknown>) => {
    await appendFile(join(config.workspaceDir, 'called.txt'), `${word}\n`);
    if (word === 'wait') await new Promise(() => {});
    return { status: 'success', data: `tickets about ${word}` } as const;
  };
  offers.replace([{ definition: fakeDefinition({ description }), call }]);
}

offer('Finds tickets by a word.');
process.on('SIGUSR2', () => offer('Finds tickets in another way.'));
const onStatus = (status: unknown) => console.log(JSON.stringify(status));
await runBridge({ ...config, offers, onStatus }, ending.signal);
