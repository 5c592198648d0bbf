// Asks the agent something and prints the answer as it comes: `node node.mjs "list the files here"`.
// DRAWBRIDGE_TOKEN is what `drawbridge token` prints.
import { ClientError, createClient } from 'drawbridge-client';

const { DRAWBRIDGE_URL = 'http://127.0.0.1:8787', DRAWBRIDGE_TOKEN = '' } = process.env;
const client = createClient({ url: DRAWBRIDGE_URL, token: DRAWBRIDGE_TOKEN });
const content = process.argv[2] ?? 'What can you do?';

// Ctrl-C cancels the answer. Leaving the loop alone would not: the agent works on without a reader.
let responseId;
process.once('SIGINT', () => responseId && client.cancel(responseId));

try {
  for await (const { event } of client.streamChat({ messages: [{ role: 'user', content }] })) {
    switch (event.type) {
      case 'response_start':
        responseId = event.response.id;
        break;
      case 'content_delta':
        process.stdout.write(event.delta);
        break;
      case 'approval_request':
        console.error(`The agent asks to use ${event.proposal.tool}: answer in its terminal.`);
        break;
      case 'done':
        process.stdout.write('\n');
        process.exitCode = event.status === 'completed' ? 0 : 1;
    }
  }
} catch (error) {
  if (!(error instanceof ClientError)) throw error;
  console.error(`${error.code}: ${error.message}`);
  process.exitCode = 1;
}
