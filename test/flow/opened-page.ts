/** Stands for `xdg-open`: notes its call, and does what the page does with the link, up to allowing a command. */
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  createClient,
  createDevice,
  enter,
  newSessionKey,
  readEnrolment,
  sessionTokens,
} from '../../client/index.ts';

const [, , report = '', file = ''] = process.argv;
const link = /url=([^"]+)"/.exec(readFileSync(file, 'utf8'))?.[1]?.replaceAll('&amp;', '&') ?? '';
const called = {
  file,
  link,
  cwd: process.cwd(),
  path: process.env['PATH'],
  mode: statSync(file).mode & 0o777,
};
writeFileSync(`${report}.called`, JSON.stringify(called));

const { origin: url, hash } = new URL(link);
const given = new URLSearchParams(hash.slice(1));
const signer = await newSessionKey();
const holder = { name: 'page', kind: 'browser' } as const;
const session = await enter({ url }, given.get('join') ?? '', holder, signer);
const client = createClient({ url, token: sessionTokens({ url }, { ...session, signer }) });
const enrolment = readEnrolment(given.get('enrol') ?? '');
const made = await createDevice('page');
if (enrolment) await client.enrolDevice(enrolment, made.enrolment);
const messages = [{ role: 'user' as const, content: 'run touch from-the-page' }];
let conversationId = '';
for await (const { event } of client.streamChat({ messages })) {
  if (event.type === 'response_start') conversationId = event.response.conversationId;
  if (event.type !== 'approval_request') continue;
  const question = { ...event, conversationId };
  await client.allowCall(question, made.device).catch(() => client.rejectCall(question));
}
writeFileSync(join(`${report}.done`), session.account);
