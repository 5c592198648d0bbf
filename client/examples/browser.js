// Chats with the agent in a page. The page's origin must be among the server's ALLOWED_ORIGINS.
import { ClientError, createClient, createDevice, formatDeviceKey } from 'drawbridge-client';

const byId = (id) => document.getElementById(id);
let client;
let device;
let view;

byId('connect').addEventListener('submit', async (event) => {
  event.preventDefault();
  const { url, token } = Object.fromEntries(new FormData(event.target));
  client = createClient({ url, token });
  await orSay(async () => {
    const { account } = await client.getMe();
    // An app keeps `device` in IndexedDB. Its yes counts once the bridge's owner has enrolled this word.
    const made = await createDevice('Example page');
    device = made.device;
    say(
      `Connected as ${account}. To approve here: drawbridge devices enrol ${formatDeviceKey(made.enrolment)}`,
    );
    byId('ask').hidden = false;
  });
});

byId('ask').addEventListener('submit', async (event) => {
  event.preventDefault();
  const content = new FormData(event.target).get('content');
  event.target.reset();
  await orSay(async () => {
    const messages = [{ role: 'user', content }];
    // For a running answer, the message is advice; otherwise it asks for a new answer.
    const sent = await client.sendMessage({
      messages,
      ...(view && { conversationId: view.id, delivery: 'steer' }),
    });
    if (!view) watch(sent.conversationId);
  });
});

byId('stop').addEventListener('click', () => {
  const response = view?.responses.at(-1);
  if (response) orSay(() => client.cancel(response.id));
});

/** Shows the conversation for as long as the page is open, over as many connections as that takes. */
async function watch(conversationId) {
  const onReconnect = () => say('Reconnecting …');
  await orSay(async () => {
    for await (const watched of client.watchConversation(conversationId, { onReconnect })) {
      view = watched.view;
      show();
    }
  });
}

function show() {
  const blocks = view.messages.flatMap((message) => {
    const response = view.responses.find(({ id }) => id === message.responseId);
    const documents = message.steers ? [] : (response?.documents ?? []);
    return [block('You', message.content), ...documents.map(documentBlock)];
  });
  byId('conversation').replaceChildren(...blocks);
  say(view.responses.at(-1)?.status ?? 'queued');
}

/** A document as text. One with a question has its buttons; one of a later version is shown by its type. */
function documentBlock({ id, type, content, metadata }) {
  const shown = block(type, content ?? JSON.stringify(metadata, null, 2));
  const { approval, questions, awaiting } = metadata;
  if (approval) {
    const question = { ...approval, conversationId: view.id };
    shown.append(
      button('Allow once', () => client.allowCall(question, device)),
      button('Reject', () => client.rejectCall(question)),
    );
  }
  if (awaiting) {
    for (const { id: questionId, text, options } of questions) {
      shown.append(text);
      for (const { id: optionId, label } of options) {
        const answers = [{ questionId, optionIds: [optionId] }];
        const answer = () => client.answerClarification(view.id, id, { answers });
        shown.append(button(label, answer));
      }
    }
  }
  return shown;
}

function block(title, text) {
  const section = document.createElement('section');
  const heading = document.createElement('h2');
  const pre = document.createElement('pre');
  heading.textContent = title;
  pre.textContent = text;
  section.append(heading, pre);
  return section;
}

function button(label, work) {
  const made = document.createElement('button');
  made.textContent = label;
  made.addEventListener('click', () => orSay(work));
  return made;
}

function say(text) {
  byId('status').textContent = text;
}

async function orSay(work) {
  try {
    await work();
  } catch (error) {
    if (!(error instanceof ClientError)) throw error;
    say(`${error.code}: ${error.message}`);
  }
}
