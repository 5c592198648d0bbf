/**
 * The URL of the program's main module, in a copy outside `root` where `root` can lie in a workspace. The copy stays
 * while this process runs.
 */
export function programUrl(root: string): Promise<string>;
