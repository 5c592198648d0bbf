/** The server that this browser is signed in at. */
import { createPageClient, type KeptSession, sessionTokens } from '../../client/index.ts';

/** The server that sent the page: it may stand below a path. */
export const SERVER = { url: new URL('.', location.href).href.replace(/[?#].*$/, '') };

export function clientOf(session: KeptSession) {
  const openSocket = (url: string) => new WebSocket(url);
  return createPageClient({ ...SERVER, token: sessionTokens(SERVER, session), openSocket });
}
