/** The tables of a conversation. All but `images` have integer keys and no secondary index; rows are appended. */

/** `MIGRATIONS[n]` migrates from version n to n + 1. It never changes once released. */
export const MIGRATIONS = [
  `create table conversation (id text primary key, owner text not null, bridge text, created text not null) without rowid;
   create table tape (position integer primary key, body text not null);
   create table runs (
     ordinal integer primary key, status text not null, first integer not null, started integer, last integer,
     request text not null, machine text,
     takeovers integer not null default 0, deadline integer,
     failures integer not null default 0, not_before integer not null default 0
   );
   create table turns (number integer primary key, run integer not null, body text not null);
   create table results (turn integer not null, call integer not null, body text not null, primary key (turn, call)) without rowid;`,
  `alter table conversation add column title text;
   alter table conversation add column archived integer not null default 0;
   alter table conversation add column ephemeral integer not null default 0;`,
  'create table steers (number integer primary key, run integer not null, turns integer, body text not null);',
  // Runs are answered one after the other, so the turns of a run are consecutive: `first_turn` is where they begin. One
  // pass over each table: a subquery for each run takes minutes where there are thousands, and an object has half a
  // minute.
  `alter table runs add column first_turn integer;
   update runs set first_turn = 1 + before.newest
     from (
       select ordinal, coalesce(
         max(newest) over (order by ordinal rows between unbounded preceding and 1 preceding), 0) as newest
       from runs left join (select run, max(number) as newest from turns group by run) on run = ordinal
     ) as before
     where before.ordinal = runs.ordinal and started is not null;
   create table windows (number integer primary key, run integer not null, body text not null);`,
  // Approvals have a proposal and a nonce since protocol 3. An older question gets a nonce that no bridge makes: it is
  // shown, but cannot be answered until its bridge asks anew. JSON that SQLite cannot read (too deep) stays as it is.
  `update tape set body = (
     select json_group_array(
       case when json_extract(event.value, '$.type') = 'approval_request' then json_object(
         'type', 'approval_request',
         'documentId', json_extract(event.value, '$.documentId'),
         'callId', json_extract(event.value, '$.callId'),
         'bridgeId', (select bridge from conversation),
         'nonce', 'protocol-2',
         'proposal', json_object(
           'kind', 'call',
           'tool', json_extract(event.value, '$.toolName'),
           'arguments', json_extract(event.value, '$.arguments')),
         'reason', json_extract(event.value, '$.reason'))
       else json(event.value) end
       order by event.key)
     from json_each(tape.body) as event)
   where body like '%"type":"approval_request"%' and json_valid(body);`,
  // Each set of tools that a bridge offered, with the first run that it was offered to.
  'create table offers (number integer primary key, run integer not null, digest text not null, body text not null);',
  // Set for agents: the status that was noticed last, and the status that the account's list has.
  `alter table conversation add column agent_status text;
   alter table conversation add column agent_told text;`,
  // Null for the conversations of before: their titles stay.
  'alter table conversation add column title_attempts integer;',
  // The settings of an agent, and the events for its webhook. Forks are no agents, so they take none.
  `alter table conversation add column agent text;
   create table deliveries (
     number integer primary key, state text not null, attempts integer not null, next_ms integer not null,
     body text not null, answer text
   );`,
  // The call that a subagent's conversation answers, as JSON.
  'alter table conversation add column parent text;',
  // The close of an agent's worktree after a run that could not close it, as JSON.
  'alter table conversation add column agent_closing text;',
  // Hours, null where it is not private; and when its text was deleted. All else of a deleted text is gone.
  `alter table conversation add column delete_after integer;
   alter table conversation add column deleted integer;`,
  // What a model does not get, because its server refused it.
  'create table left_out (number integer primary key, run integer not null, body text not null);',
  // Pieces of large images, which messages name. `run`: the first one that could.
  'create table images (digest text primary key, run integer not null, chars integer not null, body text not null);',
] as const;
