/** The index of a folder with vectors, in a process of its own that can be killed: ROOT DATABASE BASE_URL. */

import { Workspace } from '../../workspace/workspace.ts';
import { CodeIndex } from '../code-index.ts';

const [root = '', path = '', baseUrl = ''] = process.argv.slice(2);
const workspace = await Workspace.open(root);
const service = { baseUrl, model: 'concepts', isPrivate: false };
const embedding = { service, readSendable: async () => () => true };
const { signal } = new AbortController();
new CodeIndex({ workspace, path, embedding, signal }).start();
setInterval(() => {}, 1_000);
