import type { BuildOptions } from 'esbuild';

/** The program's bundle, as `esbuild` is told to make it in `outdir`. */
export function describeBundle(root: string, outdir: string): BuildOptions;

/** Puts the parser and its grammars beside the bundle in `outdir`. Returns the packages' files that they come from. */
export function copyGrammars(root: string, outdir: string): string[];
