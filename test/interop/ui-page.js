/** An app with `useChat`, in StrictMode: a composer, what the agent says, and its documents. Its address says what it talks to. */
import { useChat } from '@ai-sdk/react';
import { DefaultChatTransport, WebSocketChatTransport } from 'ai';
import { createElement as h, StrictMode, useEffect } from 'react';
import { createRoot } from 'react-dom/client';

const { url, token, id, over } = Object.fromEntries(new URLSearchParams(location.search));
const headers = { authorization: `Bearer ${token}` };
const transport =
  over === 'socket'
    ? new WebSocketChatTransport({ url: `${url}/api/v1/ui/socket`, headers })
    : new DefaultChatTransport({ api: `${url}/api/v1/ui/chat`, headers });
const kept = JSON.parse(localStorage.getItem(id) ?? '[]');

function Chat() {
  const chat = useChat({ id, messages: kept, transport, resume: true });
  const { messages, sendMessage, regenerate, stop, status, error } = chat;
  useEffect(() => localStorage.setItem(id, JSON.stringify(messages)), [messages]);
  const send = (form) => sendMessage({ text: String(form.get('text')) });
  return h(
    'main',
    { 'data-status': status },
    ...messages.map((message) =>
      h('article', { key: message.id, className: message.role }, show(message)),
    ),
    h(
      'form',
      { action: send },
      h('input', { name: 'text' }),
      h('button', { type: 'submit' }, 'Send'),
    ),
    h('button', { type: 'button', onClick: stop }, 'Stop'),
    h('button', { type: 'button', onClick: () => regenerate() }, 'Again'),
    error && h('p', { role: 'alert' }, error.message),
  );
}

function show({ parts, metadata }) {
  return parts.map((part, key) => {
    if (part.type === 'text') return h('p', { key }, part.text);
    if (part.type === 'dynamic-tool') return h('code', { key }, `${part.toolName} ${part.state}`);
    if (part.type !== 'data-document') return null;
    const { type, metadata: its } = part.data;
    const onClick = () => reject(its.approval, metadata);
    const asked = its.approval && h('button', { type: 'button', onClick }, 'Reject');
    return h('section', { key, className: type }, its.approval?.proposal.command, asked);
  });
}

function reject({ callId, nonce }, { conversationId }) {
  void fetch(`${url}/api/v1/conversations/${conversationId}/approvals/${callId}`, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify({ nonce, decision: 'reject' }),
  });
}

createRoot(document.body).render(h(StrictMode, null, h(Chat)));
