/** The typed client of the HTTP API, for Node, browsers and Workers. */
import type { TicketRequest } from '../shared/api/conversations.ts';
import type { ReadEvent } from '../shared/wire/events.ts';
import { isOver } from '../shared/wire/fold.ts';
import type {
  AppClient,
  Client,
  ClientOptions,
  EventStream,
  KeyedOptions,
  PageClient,
  SendOptions,
} from './api.ts';
import { type Clock, systemClock } from './clock.ts';
import { signApproval, signPort } from './device.ts';
import { newEnrolmentRequest } from './enrolment.ts';
import { clientError } from './error.ts';
import { follow } from './follow.ts';
import { localNetworkHint } from './local-network.ts';
import { personMethods } from './person.ts';
import {
  createSend,
  getter,
  queryOf,
  type RequestParts,
  readJson,
  readText,
  type Send,
} from './send.ts';
import { isAnswer, readAccountEvent, readEvent } from './shapes.ts';
import { Sockets } from './socket.ts';
import { textIn } from './text.ts';
import { watch } from './watch.ts';

/** A client of one Drawbridge. It holds no connection and needs no closing. */
export function createClient(options: ClientOptions, clock?: Clock): Client {
  const client = createPageClient(options, clock, createSend(options, localNetworkHint));
  return { ...client, streamText: (...asked) => textIn(client.streamChat(...asked)) };
}

/** The client of Drawbridge's own page. Its script is 0.4 KB smaller, gzipped. */
export function createPageClient(
  options: ClientOptions,
  clock?: Clock,
  send = createSend(options),
): PageClient {
  const client = clientOf(options, send, clock);
  return {
    ...client,
    ...personMethods(send),
    async openPort(bridgeId, processId, port, device, signal) {
      const body = { port, grant: await signPort(device, { bridgeId, processId, port }) };
      return await changePort(send, bridgeId, processId, body, signal);
    },
    async enrolDevice(enrolment, device, signal) {
      const body = await newEnrolmentRequest(enrolment, device);
      await send(`bridges/${enrolment.bridgeId}/devices`, { method: 'POST', body, signal });
    },
    async sendWhole(conversationId, signal) {
      await send(`conversations/${conversationId}/send-whole`, { method: 'POST', signal });
    },
    async allowCall(question, device, { signal, ...choice } = {}) {
      const signature = await signApproval(device, question, choice);
      const { conversationId, callId, nonce } = question;
      const answer = { nonce, decision: 'once' as const, signature, ...choice };
      await client.answerApproval(conversationId, callId, answer, signal);
    },
  };
}

/** The client of an app's page. Its script is 1.5 KB smaller, gzipped. */
export function createAppClient(options: ClientOptions, clock?: Clock): AppClient {
  return clientOf(options, createSend(options), clock);
}

function clientOf(
  { url, openSocket }: ClientOptions,
  send: Send,
  clock: Clock = systemClock,
): AppClient {
  const ticketFor = async (stream: TicketRequest, signal: AbortSignal) =>
    (await client.createTicket(stream, signal)).ticket;
  const sockets = openSocket && new Sockets(url, openSocket, ticketFor);
  const streamOf = (path: string, stream: TicketRequest) => ({
    // The cursor is in the query: CORS would have to allow a `Last-Event-ID` header.
    open: (cursor: number | undefined, signal: AbortSignal) =>
      send(path, { ...(cursor !== undefined && { query: { after: String(cursor) } }), signal }),
    socket: sockets?.of(path, stream),
  });
  const responseSource = (responseId: string) => ({
    ...streamOf(`chat/completions/${responseId}/events`, { responseId }),
    read: readEvent,
    isLast: endsResponse,
  });
  const get = getter(send);
  async function* stream(path: string, request: object, options: SendOptions = {}): EventStream {
    const opened = await send(path, keyedParts({ ...request, stream: true }, options));
    const source = responseSource(idIn(opened, 'Response'));
    yield* follow({ ...source, opened }, clock, options);
  }
  const client: AppClient = {
    async chat(request, options) {
      const parts = keyedParts({ ...request, stream: false }, options);
      return await get('chat/completions', isAnswer.chatResponse, parts);
    },
    streamChat: (request, options) => stream('chat/completions', request, options),
    async sendMessage(request, options) {
      const parts = keyedParts({ ...request, stream: true }, options);
      const opened = await send('chat/completions', parts);
      opened.body?.cancel().catch(() => undefined); // It has failed already then.
      const conversationId = idIn(opened, 'Conversation');
      return { conversationId, responseId: idIn(opened, 'Response') };
    },
    executePlan: (conversationId, documentId, request = {}, options) =>
      stream(`conversations/${conversationId}/plans/${documentId}/execute`, request, options),
    savePlan: (conversationId, documentId, request = {}, options) =>
      stream(`conversations/${conversationId}/plans/${documentId}/save`, request, options),
    undo: (conversationId, request = {}, options) =>
      stream(`conversations/${conversationId}/undo`, request, options),
    compact: (conversationId, request = {}, options) =>
      stream(`conversations/${conversationId}/compact`, request, options),
    executePlanFile: (request, options) => stream('chat/plan/execute', request, options),
    followResponse(responseId, { cursor, ...options } = {}) {
      return follow({ ...responseSource(responseId), cursor }, clock, options);
    },
    followConversation(conversationId, { cursor, ...options } = {}) {
      const source = streamOf(`conversations/${conversationId}/events`, { conversationId });
      const ends = { read: readEvent, isLast: () => false };
      return follow({ ...source, ...ends, cursor }, clock, options);
    },
    followAccount({ cursor, ...options } = {}) {
      const source = {
        ...streamOf('events', { stream: 'account' }),
        cursor,
        read: readAccountEvent,
      };
      return follow({ ...source, isLast: () => false }, clock, options);
    },
    watchConversation: (conversationId, options) => watch(client, conversationId, clock, options),
    getMe: (signal) => get('me', isAnswer.me, { signal }),
    updateMe: (body, signal) => get('me', isAnswer.me, { method: 'PATCH', body, signal }),
    listModels: (signal) => get('models', isAnswer.models, { signal }),
    listTools: (signal) => get('tools', isAnswer.tools, { signal }),
    listUsage: (wanted, signal) =>
      get('me/usage', isAnswer.usage, { query: queryOf(wanted), signal }),
    listBridges: (signal) => get('bridges', isAnswer.bridges, { signal }),
    getBridge: (bridgeId, signal) => get(`bridges/${bridgeId}`, isAnswer.bridge, { signal }),
    listProcesses: (bridgeId, signal) =>
      get(`bridges/${bridgeId}/processes`, isAnswer.processes, { signal }),
    stopProcess: (bridgeId, processId, signal) =>
      get(`bridges/${bridgeId}/processes/${encodeURIComponent(processId)}/stop`, isAnswer.process, {
        method: 'POST',
        signal,
      }),
    closePort: (bridgeId, processId, port, signal) =>
      changePort(send, bridgeId, processId, { port }, signal),
    findFiles: (bridgeId, query, signal) =>
      get(`bridges/${bridgeId}/files`, isAnswer.files, { query: { query }, signal }),
    getPolicy: (bridgeId, signal) => get(`bridges/${bridgeId}/policy`, isAnswer.policy, { signal }),
    getResponse: (responseId, signal) =>
      get(`chat/completions/${responseId}`, isAnswer.chatResponse, { signal }),
    getImages: (responseId, signal) =>
      get(`chat/completions/${responseId}/images`, isAnswer.images, { signal }),
    listConversations: (wanted, signal) =>
      get('conversations', isAnswer.conversationList, { query: queryOf(wanted), signal }),
    getConversation(conversationId, wanted, signal) {
      const parts = { query: queryOf(wanted), signal };
      return get(`conversations/${conversationId}`, isAnswer.conversationView, parts);
    },
    getRules: (conversationId, signal) =>
      get(`conversations/${conversationId}/rules`, isAnswer.rules, { signal }),
    updateConversation(conversationId, body, signal) {
      const parts = { method: 'PATCH', body, signal } as const;
      return get(`conversations/${conversationId}`, isAnswer.conversationInfo, parts);
    },
    async deleteConversation(conversationId, signal) {
      await send(`conversations/${conversationId}`, { method: 'DELETE', signal });
    },
    forkConversation(conversationId, responseId, { files, digest, ...options } = {}) {
      const body = { responseId, ...(files && { files }), ...(digest && { digest }) };
      const parts = keyedParts(body, options);
      return get(`conversations/${conversationId}/forks`, isAnswer.forked, parts);
    },
    exportConversation: (conversationId, signal) =>
      get(`conversations/${conversationId}/export`, isAnswer.conversationExport, { signal }),
    async exportMarkdown(conversationId, signal) {
      const parts = { query: { format: 'markdown' }, signal };
      return await readText(await send(`conversations/${conversationId}/export`, parts), signal);
    },
    getPush: (signal) => get('push', isAnswer.push, { signal }),
    async setPush(body, signal) {
      await send('push', { method: 'PUT', body, signal });
    },
    async deletePush(signal) {
      await send('push', { method: 'DELETE', signal });
    },
    createTicket: (body, signal) =>
      get('tickets', isAnswer.ticket, { method: 'POST', body, signal }),
    changePlan(conversationId, documentId, body, signal) {
      const parts = { method: 'PUT', body, signal } as const;
      return get(`conversations/${conversationId}/plans/${documentId}`, isAnswer.plan, parts);
    },
    createAgent: (body, options) => get('agents', isAnswer.agent, keyedParts(body, options)),
    listAgents: (wanted, signal) =>
      get('agents', isAnswer.agents, { query: queryOf(wanted), signal }),
    getAgent: (agentId, signal) => get(`agents/${agentId}`, isAnswer.agent, { signal }),
    followUpAgent: (agentId, body, options) =>
      get(`agents/${agentId}/followup`, isAnswer.agent, keyedParts(body, options)),
    changeAgent: (agentId, change, signal) =>
      get(`agents/${agentId}/${change}`, isAnswer.agent, { method: 'POST', signal }),
    listDeliveries: (agentId, signal) =>
      get(`agents/${agentId}/deliveries`, isAnswer.deliveries, { signal }),
    async deleteAgent(agentId, signal) {
      await send(`agents/${agentId}`, { method: 'DELETE', signal });
    },
    editMessage(responseId, body, signal) {
      const parts = { method: 'PATCH', body, signal } as const;
      return get(`chat/completions/${responseId}`, isAnswer.cancelled, parts);
    },
    cancel(responseId, signal) {
      const parts = { method: 'POST', signal } as const;
      return get(`chat/completions/${responseId}/cancel`, isAnswer.cancelled, parts);
    },
    listApprovals: (signal) => get('approvals', isAnswer.approvals, { signal }),
    async rejectCall({ conversationId, callId, nonce }, { message, signal } = {}) {
      const answer = { nonce, decision: 'reject' as const };
      const whole = message === undefined ? answer : { ...answer, message };
      await client.answerApproval(conversationId, callId, whole, signal);
    },
    async answerApproval(conversationId, callId, body, signal) {
      const path = `conversations/${conversationId}/approvals/${callId}`;
      await send(path, { method: 'POST', body, signal });
    },
    async answerClarification(conversationId, documentId, body, signal) {
      const path = `conversations/${conversationId}/clarifications/${documentId}`;
      await send(path, { method: 'POST', body, signal });
    },
  };
  return client;
}

async function changePort(
  send: Send,
  bridgeId: string,
  processId: string,
  body: object,
  signal?: AbortSignal,
) {
  const path = `bridges/${bridgeId}/processes/${encodeURIComponent(processId)}/ports`;
  return await readJson(
    await send(path, { method: 'POST', body, signal }),
    isAnswer.process,
    signal,
  );
}

function keyedParts(body: object, { signal, idempotencyKey }: KeyedOptions = {}): RequestParts {
  return {
    method: 'POST',
    body,
    signal,
    ...(idempotencyKey !== undefined && { headers: { 'idempotency-key': idempotencyKey } }),
  };
}

/** A snapshot may show a response that has already ended; no `done` follows it then. */
function endsResponse(event: ReadEvent): boolean {
  if (event.type === 'done') return true;
  if (event.type !== 'snapshot' || event.snapshot.scope !== 'response') return false;
  return isOver(event.snapshot.response.status);
}

/** Read from the header, so that the client can follow a stream that was cut before its first event. */
function idIn(response: Response, what: 'Response' | 'Conversation'): string {
  const id = response.headers.get(`Drawbridge-${what}-Id`);
  if (id) return id;
  throw clientError('BAD_ANSWER', `The answer lacks the header Drawbridge-${what}-Id`);
}
