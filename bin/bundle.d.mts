import type { BuildOptions } from 'esbuild';

/** The program's bundle, as `esbuild` is told to make it in `outdir`. */
export function describeBundle(root: string, outdir: string): BuildOptions;
