import { expect, it } from 'vitest';
import { chat } from '../../api.ts';
import { connectBridge } from '../../tunnel/scripted-bridge.ts';
import { scriptTree, taskCall } from './tree.ts';

/** Of a conversation with its message, its run and its alarm; of its first answer; and of the call's result. */
const ROWS_OF_A_SUBAGENT = 20;

it('counts the rows of subagents for the response, and each takes no more than a conversation does', async () => {
  const { bridgeId } = await connectBridge();
  const rowsWith = async (count: number) => {
    const names = Array.from({ length: count }, (_, index) => `n${index}`);
    scriptTree({
      go: [{ calls: names.map((name) => taskCall(name)) }, { text: 'Over.' }],
      ...Object.fromEntries(names.map((name) => [name, [{ text: `Did ${name}.` }]])),
    });
    return (await chat('go', { bridgeId })).metadata.rows ?? 0;
  };
  const one = await rowsWith(1);
  const four = await rowsWith(4);
  expect(four - one).toBeLessThanOrEqual(3 * ROWS_OF_A_SUBAGENT);
  expect(four).toBeGreaterThan(one);
});
