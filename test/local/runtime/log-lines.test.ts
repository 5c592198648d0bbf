import { expect, it } from 'vitest';
import { LogLines } from '../../../local/runtime/runtime.ts';

const CONNECT =
  'workerd/io/worker.c++:2: error: e = kj/async.c++:1: failed: Handler does not export a connect() function.; stack: 1 2';
const OURS = JSON.stringify({
  event: 'origin_refused',
  origin: 'https://Received a connect event but we lack',
});

it('what workerd writes about a CONNECT is in no log, wherever its output is cut', () => {
  const whole = `${OURS}\n${CONNECT}\nline\n${CONNECT}\n${CONNECT}\nlast`;
  for (let cut = 0; cut <= whole.length; cut++) {
    let log = '';
    const lines = new LogLines((text) => {
      log += text;
    });
    lines.push(whole.slice(0, cut));
    lines.push(whole.slice(cut));
    lines.end();
    expect(log).toBe(`${OURS}\nline\nlast\n`);
  }
});
