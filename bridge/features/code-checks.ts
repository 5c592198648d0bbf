/** Language servers: they check each edit before it is proposed, and say what is wrong in files as they are. */

import {
  checkingShape,
  confinedServers,
  createReadLints,
  EditChecks,
  type LanguageServers,
  usedFileDiagnostics,
} from '../../packages/code-checks/index.ts';
import type { BridgeGround, Feature } from '../feature.ts';

export function codeChecks({ config, owner }: Pick<BridgeGround, 'config' | 'owner'>): Feature {
  const { stateDir } = config;
  const { isDistrusted } = owner;
  let ofWorkspace: LanguageServers | undefined;
  return {
    inRoom: ({ kind, workspace: { root }, confinement }) => {
      const servers = confinedServers({ root, confinement, stateDir, isDistrusted });
      if (kind === 'workspace') ofWorkspace = servers;
      const shape = checkingShape(new EditChecks(servers));
      return { tools: [createReadLints(servers)], shape, end: () => servers.end() };
    },
    finds: {
      diagnose: async (used, { readable, signal }) =>
        ofWorkspace && (await usedFileDiagnostics(ofWorkspace, { used, readable, signal })),
    },
  };
}
