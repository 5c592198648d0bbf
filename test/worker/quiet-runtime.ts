/** Keeps to itself what workerd says of objects and readers that tests end on purpose. Runs in Vitest's own process. */

/** How such a message begins: by workerd's own sources, or by the end that a test has made. */
const NOISE = new RegExp(
  '^(uncaught )?exception' +
    '(; source = Uncaught \\(in promise\\); stack = (Type)?Error: ' +
    '(reset|Application called|a bug|a chapter was refused|A newer version)' +
    '|( =|; exception =) (workerd|kj)/)',
);

export function setup(): () => void {
  const restore = [process.stdout, process.stderr].map((stream) => {
    const { write } = stream;
    stream.write = new Proxy(write, {
      apply: (target, self, args: Parameters<typeof write>) =>
        NOISE.test(String(args[0])) || Reflect.apply(target, self, args),
    });
    return () => {
      stream.write = write;
    };
  });
  return () => {
    for (const undo of restore) undo();
  };
}
