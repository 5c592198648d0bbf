/** The versions of which states are kept. There are no releases yet, so each is a commit of the history. */

export interface Milestone {
  /** Names its archive in `states/`. */
  readonly name: string;
  readonly commit: string;
  /** What its state had that the state of the one before had not. */
  readonly news: string;
}

/** The oldest first. Append a row with each release and run `node test/upgrades/make-states.ts <name>`. */
export const MILESTONES: readonly Milestone[] = [
  { name: '01-first', commit: 'f8a5752', news: 'conversations, runs, tunnel protocol 1' },
  { name: '02-forks', commit: '1c65b76', news: 'plans, forks, titles, lists, tunnel protocol 2' },
  { name: '03-windows', commit: 'f34c338', news: 'summaries of long conversations' },
  { name: '04-nonces', commit: 'f27e914', news: 'approvals with a nonce, tunnel protocol 3' },
  { name: '05-offers', commit: 'df01b2f', news: 'sets of offered tools' },
  { name: '06-amended', commit: '5889c14', news: 'approvals that change an edit' },
  { name: '07-agents', commit: 'ec51b07', news: 'subagents, agents, webhooks, usage' },
];
