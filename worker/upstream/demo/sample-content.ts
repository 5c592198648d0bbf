/** What stands in a file that the user wants without saying what: something small that works. */

/** Content for a new file, by its name. */
export function sampleContent(path: string): string {
  const name = path.split('/').at(-1) ?? path;
  const extension = /\.([^.]+)$/.exec(name)?.[1]?.toLowerCase() ?? '';
  return SAMPLES[extension]?.(name) ?? `${name}\n`;
}

const script = (name: string) => `console.log('Hello from ${name.replaceAll("'", '')}');\n`;

const SAMPLES: Readonly<Record<string, (name: string) => string>> = {
  md: (name) => `# ${name.replace(/\.md$/i, '')}\n\nWritten by Drawbridge's demo model.\n`,
  js: script,
  mjs: script,
  ts: script,
  py: (name) => `print("Hello from ${name.replaceAll('"', '')}")\n`,
  sh: (name) => `#!/bin/sh\necho "Hello from ${name.replaceAll(/["$`\\]/g, '')}"\n`,
  json: () => '{}\n',
  css: () => 'body {\n  font-family: sans-serif;\n}\n',
  html: (name) =>
    `<!doctype html>\n<html lang="en">\n<title>${name.replaceAll(/[<&]/g, '')}</title>\n<p>Hello.</p>\n</html>\n`,
};
