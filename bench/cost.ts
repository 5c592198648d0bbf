/** Computes the table of costs in docs/hosting.md from measured counts and Cloudflare's prices. Run it to print it. */
import { SCRIPTS } from './scripts.ts';

/**
 * The Workers Paid plan in US dollars, as on 22 November 2026: https://developers.cloudflare.com/durable-objects/platform/pricing/
 * and https://developers.cloudflare.com/workers/platform/pricing/. `included` is for an account and a month.
 */
export const PRICES = {
  planPerMonth: 5,
  rows: { perMillion: 1, included: 50_000_000 },
  objectRequests: { perMillion: 0.15, included: 1_000_000 },
  gbSeconds: { perMillion: 12.5, included: 400_000 },
  workerRequests: { perMillion: 0.3, included: 10_000_000 },
} as const;
/** An active object is billed for 128 MB, whatever it uses; the prices count a GB as 1,000 MB. */
const GB_OF_OBJECT = 0.128;
/** Messages on a socket are billed as this part of a request. */
const REQUESTS_OF_MESSAGE = 1 / 20;

/** What the objects do for one answer: rows written, requests to objects, and messages on their sockets. */
export interface BilledAnswer {
  readonly rows: number;
  readonly requests: number;
  readonly messages: number;
}

/** Counted by `npm run bench -- k`; a deep test counts again. */
export const MEASURED = {
  chatting: { rows: 11, requests: 8, messages: 1 },
  working: { rows: 58, requests: 22, messages: 9 },
} as const satisfies Readonly<Record<string, BilledAnswer>>;

/** Seconds that a model takes for a turn that calls tools. The script of the measurement takes none for them. */
const SECONDS_OF_TURN = 6;
/** A tape is written each two seconds while a model sends. */
const SECONDS_OF_ROW = 2;
/** Seconds that the objects together are active for one turn beside the model: measured, it is less. */
const SECONDS_OF_LOOP = 0.1;

/** What is billed for some use. */
export interface Use {
  readonly rows: number;
  readonly objectRequests: number;
  readonly gbSeconds: number;
  readonly workerRequests: number;
}

const HOURS_A_MONTH = 20;
const CHATS_A_MONTH = 40;
const USERS = 1_000;

/** The table's rows: what is done, and what is billed for it. */
export function uses(): readonly (readonly [name: string, use: Use])[] {
  const chat = useOf('chatting', 5);
  const hour = useOf('working', 20);
  const month = (what: keyof Use) => HOURS_A_MONTH * hour[what] + CHATS_A_MONTH * chat[what];
  const user = mapUse(month);
  return [
    ['A short chat', chat],
    ['An hour of coding', hour],
    ['A month of one user', user],
    ['A month of 1,000 users', mapUse((what) => USERS * user[what])],
  ];
}

function useOf(script: keyof typeof MEASURED, answers: number): Use {
  const { rows, requests, messages } = MEASURED[script];
  const { calls, tokens, everyMs } = SCRIPTS[script];
  const turning = calls.length * SECONDS_OF_TURN;
  const active = turning + (tokens * everyMs) / 1000 + (calls.length + 1) * SECONDS_OF_LOOP;
  return {
    rows: answers * (rows + turning / SECONDS_OF_ROW),
    objectRequests: answers * (requests + messages * REQUESTS_OF_MESSAGE),
    gbSeconds: answers * active * GB_OF_OBJECT,
    workerRequests: answers,
  };
}

/** US dollars beyond the plan, and nothing included. */
export function priceOf(use: Use): number {
  const price = (what: keyof Use) => (use[what] * PRICES[what].perMillion) / 1_000_000;
  return sumUse(price);
}

/** US dollars of a month with this use, the plan and what it includes counted in. */
export function monthlyPriceOf(use: Use): number {
  const beyond = mapUse((what) => Math.max(0, use[what] - PRICES[what].included));
  return PRICES.planPerMonth + priceOf(beyond);
}

/** The table as Markdown. */
export function costTable(): string {
  const header = ['Use', 'Rows', 'To objects', 'GB-s', 'To Worker', 'Price', 'Bill'];
  const lines = uses().map(([name, use]) => {
    const counts = [use.rows, use.objectRequests, use.gbSeconds, use.workerRequests];
    const isMonth = name.startsWith('A month');
    const bill = isMonth ? dollars(monthlyPriceOf(use)) : '';
    return [name, ...counts.map(rounded), dollars(priceOf(use)), bill];
  });
  return [header, header.map((_, column) => (column === 0 ? '---' : '---:')), ...lines]
    .map((cells) => `| ${cells.join(' | ')} |\n`)
    .join('');
}

function mapUse(of: (what: keyof Use) => number): Use {
  return {
    rows: of('rows'),
    objectRequests: of('objectRequests'),
    gbSeconds: of('gbSeconds'),
    workerRequests: of('workerRequests'),
  };
}

function sumUse(of: (what: keyof Use) => number): number {
  return Object.values(mapUse(of)).reduce((sum, value) => sum + value, 0);
}

function rounded(count: number): string {
  return Math.round(count).toLocaleString('en-US');
}

/** Small amounts with two digits that count. */
function dollars(amount: number): string {
  const digits = amount >= 1 ? 2 : Math.max(2, 1 - Math.floor(Math.log10(amount)));
  return `$${amount.toLocaleString('en-US', { minimumFractionDigits: digits, maximumFractionDigits: digits })}`;
}

if (import.meta.main) process.stdout.write(costTable());
