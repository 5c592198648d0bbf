/** A real bridge in a process of its own: the config comes as an argument, its status goes to stdout, SIGTERM ends it. */
import { runBridge } from '../../bridge/run.ts';

const ending = new AbortController();
process.once('SIGTERM', () => ending.abort());
const own = { environment: process.env, asksAtTerminal: false };
const config = { ...JSON.parse(process.argv[2] ?? ''), ...own };
const onStatus = (status: unknown) => console.log(JSON.stringify(status));
await runBridge({ ...config, onStatus }, ending.signal);
