/** `invitations`, `operator/invitations`: ways into an account for one more device, and those that no device has used. */
import type { Context } from 'hono';
import {
  Invitation,
  InvitationId,
  InvitationList,
  type PendingInvitation,
} from '../../shared/api/sessions.ts';
import { SESSION_LIMITS } from '../../shared/limits.ts';
import type { AppContext } from '../account/caller.ts';
import { parseId } from '../desk/parse.ts';
import { type Endpoint, jsonAnswer } from '../endpoint.ts';
import { directoryOf } from '../objects.ts';
import { originOf } from '../origin.ts';
import { unwrap } from '../outcome.ts';
import { entryHash, invitationIdOf, newEntrySecret } from '../people/entry-secrets.ts';
import type { WaitingInvitation } from '../ports/directory.ts';
import { reach } from '../reach.ts';
import { record } from './records.ts';

const PEOPLE = { tag: 'People', access: 'user', needs: 'person' } as const;
const OPERATOR = { tag: 'People', access: 'operator' } as const;
const INVITATION = { id: { description: 'The invitation.', zod: InvitationId } };
const LISTED = [jsonAnswer(200, 'The whole list, the oldest first.', InvitationList)];
const REVOKED = [{ status: 204, description: 'There is no such unused invitation now.' }] as const;

/** The endpoints of this file. */
export const INVITATIONS: readonly Endpoint[] = [
  {
    ...PEOPLE,
    id: 'createInvitation',
    method: 'post',
    path: '/api/v1/invitations',
    summary: 'Invite a device',
    description:
      'Whoever has the secret can make one session in the caller’s account with it, once, within two days and while the session of its maker lives: `POST /api/v1/sessions`.',
    answers: [jsonAnswer(201, 'The invitation. Nothing else shows its secret.', Invitation)],
    handle: async (c) => {
      const secret = newEntrySecret('invitation');
      const hash = await entryHash(secret);
      const { sub: account, sid: by } = c.var.caller;
      const expiresMs = Date.now() + SESSION_LIMITS.invitationMs;
      unwrap(await directoryOf(c.env).invite({ secret: hash, account, by, expiresMs }));
      const link = `${originOf(c)}/#join=${secret}`;
      const expires = new Date(expiresMs).toISOString();
      const id = invitationIdOf(hash);
      await record(c, account, { action: 'invitation_created', subject: id });
      return c.json({ id, secret, link, account, expires } satisfies Invitation, 201);
    },
  },
  {
    ...PEOPLE,
    id: 'listInvitations',
    method: 'get',
    path: '/api/v1/invitations',
    summary: 'List the account’s unused invitations',
    answers: LISTED,
    handle: async (c) => await list(c, c.var.caller.sub),
  },
  {
    ...PEOPLE,
    id: 'revokeInvitation',
    method: 'delete',
    path: '/api/v1/invitations/{id}',
    summary: 'Revoke an unused invitation',
    params: INVITATION,
    answers: REVOKED,
    handle: async (c) => await revoke(c, c.var.caller.sub),
  },
  {
    ...OPERATOR,
    id: 'listAllInvitations',
    method: 'get',
    path: '/api/v1/operator/invitations',
    summary: 'List the unused invitations of all accounts',
    answers: LISTED,
    handle: async (c) => await list(c, null),
  },
  {
    ...OPERATOR,
    id: 'revokeAnyInvitation',
    method: 'delete',
    path: '/api/v1/operator/invitations/{id}',
    summary: 'Revoke an unused invitation of any account',
    params: INVITATION,
    answers: REVOKED,
    handle: async (c) => await revoke(c, null),
  },
];

async function list(c: Context<AppContext>, account: string | null): Promise<Response> {
  const ask = () => directoryOf(c.env).invitations(account);
  const items = (await reach<WaitingInvitation[]>(ask)).map(shown);
  return c.json({ items } satisfies InvitationList);
}

function shown(invitation: WaitingInvitation): PendingInvitation {
  const { secret, account, by = null, madeMs, expiresMs } = invitation;
  const [created, expires] = [new Date(madeMs).toISOString(), new Date(expiresMs).toISOString()];
  return { id: invitationIdOf(secret), account, by, created, expires };
}

async function revoke(c: Context<AppContext>, account: string | null): Promise<Response> {
  const id = parseId(InvitationId, c.req.param('id'), 'invitation');
  const revoke = () => directoryOf(c.env).revokeInvitation(id, account);
  const revoked = await reach<string | undefined>(revoke);
  if (revoked !== undefined) {
    await record(c, revoked, { action: 'invitation_revoked', subject: id });
  }
  return c.body(null, 204);
}
