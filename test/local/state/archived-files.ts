import { readArchive } from '../../../local/archive/archive.ts';

/** The texts of an archive's files by their paths, without the runtime's databases. */
export async function filesIn(archive: string): Promise<Record<string, string>> {
  const files: Record<string, string> = {};
  await readArchive(archive, {
    begin: () => {},
    take: async ({ path, type }, content) => {
      let text = '';
      for await (const piece of content) text += piece;
      if (type === 'file' && !path.startsWith('storage/')) files[path] = text;
    },
  });
  return files;
}
