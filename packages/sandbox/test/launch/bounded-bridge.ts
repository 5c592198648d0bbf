/** A bridge in a memory group of a few hundred megabytes: prints what its commands came to, null without a group. */
import { text } from 'node:stream/consumers';
import { chooseAccount } from '../../account.ts';
import { findBubblewrap } from '../../launch/bubblewrap.ts';
import { bubblewrapConfinement } from '../../launch/bubblewrap-confinement.ts';
import { enterMemoryGroup } from '../../launch/memory-group.ts';
import { run } from '../terminal/plain-launch.ts';

const { surroundings, commands, bytes } = JSON.parse(await text(process.stdin));
using group = await enterMemoryGroup(bytes);
const report = group ? await runAll() : null;
process.stdout.write(JSON.stringify(report));

async function runAll(): Promise<{ outputs: string[]; limits: string }> {
  const found = await findBubblewrap();
  const chosen = await chooseAccount(surroundings.workspace);
  if (!found.ok || !chosen.ok) throw new Error('nothing to test with');
  const account = { ...chosen.account, home: surroundings.home };
  const made = await bubblewrapConfinement(found.bubblewrap, account, surroundings, group);
  if (!made.ok) throw new Error(made.reason);
  using confinement = made.confinement;
  const outputs: string[] = [];
  let limits = '';
  for (const command of commands) {
    const request = { command, cwd: surroundings.workspace, permissions: [] };
    await confinement.start(request, async (prepared) => {
      outputs.push((await run(prepared.launch)).output);
      ({ limits } = prepared);
    });
  }
  return { outputs, limits };
}
