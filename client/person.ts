/** A person's own requests, which no app makes: invitations, logins, passkeys, sessions and records of the account. */
import type { PasskeyList } from '../shared/api/passkeys.ts';
import type { ActRecordList } from '../shared/api/records.ts';
import type { Invitation, InvitationList, LoginView, SessionList } from '../shared/api/sessions.ts';
import type { Client, PersonMethod } from './api.ts';
import { getter, queryOf, type Send } from './send.ts';
import { guard } from './shapes.ts';

export function personMethods(send: Send): Pick<Client, PersonMethod> {
  const get = getter(send);
  return {
    createInvitation: (signal) =>
      get(
        'invitations',
        guard<Invitation>({
          id: 'string',
          secret: 'string',
          link: 'string',
          account: 'string',
          expires: 'string',
        }),
        { method: 'POST', signal },
      ),
    listInvitations: (signal) =>
      get(
        'invitations',
        guard<InvitationList>({
          items: [{ id: 'string', account: 'string', created: 'string', expires: 'string' }],
        }),
        { signal },
      ),
    listPasskeys: (signal) =>
      get('passkeys', guard<PasskeyList>({ items: [{ credentialId: 'string', name: 'string' }] }), {
        signal,
      }),
    async addPasskey(body, signal) {
      await send('passkeys', { method: 'POST', body, signal });
    },
    async removePasskey(credentialId, signal) {
      await send(`passkeys/${credentialId}`, { method: 'DELETE', signal });
    },
    async revokeInvitation(invitationId, signal) {
      await send(`invitations/${invitationId}`, { method: 'DELETE', signal });
    },
    getLogin: (code, signal) =>
      get(
        `logins/${encodeURIComponent(code)}`,
        guard<LoginView>({
          name: 'string',
          kind: 'string',
          key: { x: 'string', y: 'string' },
          created: 'string',
        }),
        { signal },
      ),
    async decideLogin(code, body, signal) {
      await send(`logins/${encodeURIComponent(code)}`, { method: 'POST', body, signal });
    },
    listSessions: (signal) =>
      get(
        'sessions',
        guard<SessionList>({
          items: [
            {
              id: 'string',
              name: 'string',
              kind: 'string',
              key: { x: 'string', y: 'string' },
              lastUsed: 'string',
              current: 'boolean',
            },
          ],
        }),
        { signal },
      ),
    async allowMove(bridgeId, key, signal) {
      await send(`bridges/${bridgeId}/move`, { method: 'POST', body: { key }, signal });
    },
    async endSession(sessionId, signal) {
      await send(`sessions/${sessionId}`, { method: 'DELETE', signal });
    },
    listRecords: (wanted, signal) =>
      get(
        'records',
        guard<ActRecordList>({ items: [{ at: 'string', action: 'string', subject: 'string' }] }),
        { query: queryOf(wanted), signal },
      ),
  };
}
