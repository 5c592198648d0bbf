/** The parts of the Language Server Protocol that are read and written here (version 3.17). Pure. */
import { pathToFileURL } from 'node:url';
import * as z from 'zod';
import { Diagnostics } from './findings.ts';

/** The process id would mean nothing in the sandbox: a server that watches it would end. */
export function introductionTo(folder: string): Readonly<Record<string, unknown>> {
  return {
    processId: null,
    clientInfo: { name: 'drawbridge' },
    rootUri: folder,
    workspaceFolders: [{ uri: folder, name: 'workspace' }],
    capabilities: {
      general: { positionEncodings: ['utf-16'] },
      textDocument: {
        synchronization: {},
        diagnostic: { dynamicRegistration: true },
        publishDiagnostics: { versionSupport: true },
      },
      workspace: {
        configuration: true,
        workspaceFolders: true,
        didChangeWatchedFiles: { dynamicRegistration: true },
      },
    },
  };
}

export const Introduced = z.object({
  capabilities: z.object({
    diagnosticProvider: z.unknown().optional(),
    /** How a changed text comes: a number, or an object with it. */
    textDocumentSync: z
      .union([z.int(), z.object({ change: z.int() }).transform(({ change }) => change)])
      .optional()
      .catch(undefined),
    executeCommandProvider: z
      .object({ commands: z.array(z.string()) })
      .optional()
      .catch(undefined),
  }),
  serverInfo: z
    .object({ name: z.string(), version: z.string().optional() })
    .optional()
    .catch(undefined),
});

/** `TextDocumentSyncKind.Incremental`: the server wants the range that a change replaces. */
export const INCREMENTAL = 2;

/** Where a text ends, as the protocol counts: in UTF-16 units. */
export function endOf(text: string) {
  const lines = text.split(/\r\n|\r|\n/);
  return { line: lines.length - 1, character: lines.at(-1)?.length ?? 0 };
}

export const Pulled = z.object({ items: Diagnostics });
export const Published = z.object({
  uri: z.string(),
  version: z.int().nullish(),
  diagnostics: Diagnostics,
});
export const Registrations = z.object({ registrations: z.array(z.object({ method: z.string() })) });
export const Configuration = z.object({
  items: z.array(z.object({ section: z.string().optional().catch(undefined) })).max(100),
});

/**
 * Never null, which the format allows: the server of CSS fails at it, and reports that nothing is wrong. So does the
 * server of HTML where `js/ts` has no `implicitProjectConfig`.
 */
export function defaultsOf({ section }: { readonly section?: string | undefined }) {
  return section === 'js/ts' ? { implicitProjectConfig: {} } : {};
}

export function isPull({ method }: { readonly method: string }): boolean {
  return method === 'textDocument/diagnostic';
}

export function uriOf(path: string): string {
  return pathToFileURL(path).href;
}

/** Programs escape different characters. */
export function isSameFile(uri: string, other: string): boolean {
  try {
    return decodeURIComponent(uri) === decodeURIComponent(other);
  } catch {
    return false; // A malformed escape is in no address of ours.
  }
}

/** ServerCancelled and ContentModified, and ServerNotInitialized of a server that is not quite there. */
export const AGAIN: ReadonlySet<number> = new Set([-32802, -32801, -32002]);
