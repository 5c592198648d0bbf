/** The functions of `node:http`: importing it runs its getters, which load HTTP/2 and `fetch`: 10 MB of memory. */
export const { Agent, createServer, request } = process.getBuiltinModule('node:http');
