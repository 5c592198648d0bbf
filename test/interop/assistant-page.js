/** An app with assistant-ui: its composer with attachments, its messages, and a tool of the page. Its address says what it talks to. */
import { useChat } from '@ai-sdk/react';
import {
  AssistantRuntimeProvider,
  ComposerPrimitive,
  MessagePrimitive,
  makeAssistantTool,
  ThreadPrimitive,
} from '@assistant-ui/react';
import { AssistantChatTransport, useAISDKRuntime } from '@assistant-ui/react-ai-sdk';
import { lastAssistantMessageIsCompleteWithToolCalls } from 'ai';
import { createElement as h, useEffect } from 'react';
import { createRoot } from 'react-dom/client';

const { url, token, id } = Object.fromEntries(new URLSearchParams(location.search));
const transport = new AssistantChatTransport({
  api: `${url}/api/v1/ui/chat`,
  headers: { authorization: `Bearer ${token}` },
  // Of its own, each page would have the same id.
  prepareSendMessagesRequest: ({ body, messages, trigger, messageId }) => ({
    body: { ...body, id, messages, trigger, messageId },
  }),
});
const kept = JSON.parse(localStorage.getItem(id) ?? '[]');

const ShowMap = makeAssistantTool({
  toolName: 'show_map',
  description: 'Shows a place to the person.',
  parameters: { type: 'object', properties: { place: { type: 'string' } }, required: ['place'] },
  execute: async ({ place }) => {
    if (place === 'nowhere') throw new Error('no such place');
    if (place === 'far') await new Promise((resolve) => addEventListener('arrived', resolve));
    return `shown: ${place}`;
  },
  render: ({ args, status }) => h('code', null, `${args.place} ${status.type}`),
});

function App() {
  const chat = useChat({
    id,
    messages: kept,
    transport,
    resume: true,
    sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithToolCalls,
  });
  const runtime = useAISDKRuntime(chat);
  transport.setRuntime(runtime);
  useEffect(() => localStorage.setItem(id, JSON.stringify(chat.messages)), [chat.messages]);
  return h(AssistantRuntimeProvider, { runtime }, h(ShowMap), h(Thread), h(State, { chat }));
}

function State({ chat: { status, error } }) {
  return h('output', { 'data-status': status }, status, error?.message);
}

function Thread() {
  const components = { UserMessage: Message, AssistantMessage: Message };
  return h(
    ThreadPrimitive.Root,
    null,
    h(ThreadPrimitive.Messages, { components }),
    h(
      ComposerPrimitive.Root,
      null,
      h(ComposerPrimitive.Input, { placeholder: 'Message' }),
      h(ComposerPrimitive.AddAttachment, null, 'Attach'),
      h(ComposerPrimitive.Send, null, 'Send'),
      h(ComposerPrimitive.Cancel, null, 'Cancel'),
    ),
  );
}

function Message() {
  return h(MessagePrimitive.Root, { className: 'message' }, h(MessagePrimitive.Parts));
}

createRoot(document.body).render(h(App));
