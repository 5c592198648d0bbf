/** The web: pages that calls and messages name, and the owner's search service. */
import type { BridgeGround, Feature } from '../feature.ts';
import { readPage } from '../web/page.ts';
import { createWebFetch } from './fetch.ts';
import { createWebSearch } from './search.ts';

export function web({ config, owner }: Pick<BridgeGround, 'config' | 'owner'>): Feature {
  const { net, webSearch } = config;
  const { sites, readPageRules: readRules } = owner;
  const search = webSearch ? [createWebSearch(webSearch)] : [];
  const tools = [createWebFetch({ sites, readRules, net }), ...search];
  return { inRoom: () => ({ tools }), finds: { readPage } };
}
