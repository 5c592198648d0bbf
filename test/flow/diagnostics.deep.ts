/** The next message shows the model what is wrong in the files that the conversation has used. */
import { cpSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { startScriptedModel } from '../far-ends/scripted-model.ts';
import { installPackages, NO_REGISTRY } from '../interop/foreign-packages.ts';
import { startHouse, until } from './house.ts';

it.skipIf(NO_REGISTRY).each([
  ['7', ['typescript@7.0.2']],
  ['5', ['typescript@5.9.3', 'typescript-language-server@5.3.0']],
])(
  `TypeScript %s finds what the person made wrong since the last answer ${NO_REGISTRY ?? ''}`,
  async (_, packages) => {
    await using installed = await installPackages(packages);
    const calls = [
      { name: 'read_file', arguments: { target_file: 'a.ts' } },
      { name: 'read_lints', arguments: { paths: ['a.ts'] } },
    ];
    const model = await startScriptedModel(() => {
      const call = calls.shift();
      return call ? { text: '', calls: [call] } : { text: 'Looked.' };
    });
    onTestFinished(() => model.close());
    await using house = await startHouse({
      modelUrl: model.baseUrl,
      prepare: (workspace) => {
        const copying = { recursive: true, verbatimSymlinks: true };
        cpSync(join(installed.folder, 'node_modules'), join(workspace, 'node_modules'), copying);
        writeFileSync(join(workspace, 'a.ts'), 'export const n: number = 1;\n');
      },
    });
    let conversationId: string | undefined;
    const say = async (content: string) => {
      const messages = [{ role: 'user' as const, content }];
      ({ conversationId } = await house.client.chat({
        messages,
        ...(conversationId !== undefined && { conversationId }),
      }));
      return JSON.stringify(model.requests.at(-1)?.messages.slice(-1));
    };
    expect(await say('Look at it.')).toContain('no errors or warnings');
    writeFileSync(join(house.workspace, 'a.ts'), "export const n: number = 'x';\n");
    // A busy machine may answer too late for a message.
    await until(async () => /a\.ts.*not assignable/.test(await say('And now?')));
  },
);
