import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { temporaryFolder } from '../../../test/local/temporary-folder.ts';
import { readOtherList, readProposedServers } from '../server-file.ts';
import { variablesIn, withVariables } from '../transport/variables.ts';

function workspaceWith(files: Readonly<Record<string, string>>): string {
  const workspace = temporaryFolder();
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(join(workspace, dirname(name)), { recursive: true });
    writeFileSync(join(workspace, name), text);
  }
  return workspace;
}

const program = { args: [], env: {}, disabled: false };

it('the lists of Gemini CLI and of VS Code are read in their own forms', async () => {
  const workspace = workspaceWith({
    '.gemini/settings.json': JSON.stringify({
      theme: 'dark',
      mcpServers: {
        far: {
          httpUrl: 'https://a.test/mcp',
          headers: { authorization: 'Bearer $TOKEN' },
          trust: true,
        },
        near: { command: 'near', args: ['$HOME/x', '${OTHER}'], excludeTools: ['drop'] },
      },
    }),
    '.vscode/mcp.json': `{
      // for this project
      "inputs": [{"type": "promptString", "id": "key", "password": true}], /* once */
      "servers": {"web": {"type": "stdio", "command": "npx", "args": ["a//b", "say \\"/*hi*/,]\\""],
        "env": {"KEY": "\${input:key}"},},},
    }`,
  });
  expect(await readProposedServers(workspace)).toEqual([
    {
      file: '.gemini/settings.json',
      name: 'far',
      config: {
        disabled: false,
        url: 'https://a.test/mcp',
        headers: { authorization: 'Bearer ${TOKEN}' },
      },
    },
    {
      file: '.gemini/settings.json',
      name: 'near',
      config: {
        ...program,
        command: 'near',
        args: ['${HOME}/x', '${OTHER}'],
        excludeTools: ['drop'],
      },
    },
    {
      file: '.vscode/mcp.json',
      name: 'web',
      config: {
        ...program,
        command: 'npx',
        args: ['a//b', 'say "/*hi*/,]"'],
        env: { KEY: '${input:key}' },
      },
    },
  ]);
});

it.each([
  '',
  '[]',
  '{"servers": 7}',
  '{"servers": {"a": 7}}',
  '"\\"'.repeat(200_000),
  ',/*'.repeat(100_000),
])(
  'a file that is no list proposes nothing, and at once (%#)',
  async (text) => {
    const workspace = workspaceWith({ '.vscode/mcp.json': text });
    expect(await readProposedServers(workspace)).toEqual([]);
  },
  2_000,
);

it('a list of another place is read by its path', async () => {
  const elsewhere = workspaceWith({ 'mcp.json': '{"mcpServers": {"a": {"command": "b"}}}' });
  expect(await readOtherList('/nowhere', join(elsewhere, 'mcp.json'))).toMatchObject([
    { name: 'a' },
  ]);
});

const place = { workspace: '/w/project', environment: { HOME: '/h', KEY: 'k', EMPTY: '' } };

it.each([
  ['${KEY}', 'k'],
  ['${env:KEY}-${KEY}', 'k-k'],
  ['${workspaceFolder}/x', '/w/project/x'],
  ['${workspaceFolderBasename}', 'project'],
  ['${userHome}${/}a', '/h/a'],
  ['${NONE:-a:b}', 'a:b'],
  ['${EMPTY:-a}', 'a'],
  ['$KEY and $(KEY)', '$KEY and $(KEY)'],
])('%s is %s', (text, filled) => {
  const config = { ...program, command: 'x', args: [text], env: { A: text } };
  expect(withVariables(config, place)).toEqual({ ...config, args: [filled], env: { A: filled } });
});

it('a variable that is not set is named', () => {
  const config = { disabled: false, url: 'https://a.test', headers: { a: 'Bearer ${NONE}' } };
  expect(() => withVariables(config, place)).toThrow('the variable NONE is not set');
  expect(variablesIn(config)).toEqual(['NONE']);
  expect(variablesIn({ ...program, command: '${workspaceFolder}' })).toEqual([]);
});
