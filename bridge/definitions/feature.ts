/** The folder's own modes and agents. */
import type { BridgeGround, Feature } from '../feature.ts';
import { Definitions } from './definitions.ts';

export function definitions({
  workspace,
  signal,
}: Pick<BridgeGround, 'workspace' | 'signal'>): Feature {
  const found = new Definitions(workspace);
  return { look: async (showable) => ({ definitions: await found.look({ ...showable, signal }) }) };
}
