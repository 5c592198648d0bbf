/** Bundles `<drawbridge-thread>` (web/embed/) with all that it needs: one file, which an app's page can load as it is. */
import { join } from 'node:path';
import { build, type Plugin } from 'esbuild';
import { FOR_BROWSERS } from '../local/runtime/page.ts';

/** Writes the module to `outfile`. Returns the files that went into it. Rejects with esbuild's errors. */
export async function bundleEmbed(root: string, outfile: string): Promise<string[]> {
  const { metafile } = await build({
    ...FOR_BROWSERS,
    absWorkingDir: root,
    entryPoints: [join(root, 'web', 'embed', 'element.tsx')],
    outfile,
    plugins: [STYLES_AS_TEXT],
    metafile: true,
    logLevel: 'silent',
  });
  return Object.keys(metafile.inputs);
}

/** A file of styles becomes its text, with that of the files that it imports. */
const STYLES_AS_TEXT: Plugin = {
  name: 'styles-as-text',
  setup({ onLoad }) {
    onLoad({ filter: /\.css$/ }, async ({ path }) => {
      const { outputFiles: [styles] = [] } = await build({
        entryPoints: [path],
        bundle: true,
        minify: true,
        write: false,
      });
      return { contents: styles?.text.trim() ?? '', loader: 'text' };
    });
  },
};
