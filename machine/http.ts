/**
 * The functions of `node:http`. An import of that module runs all of its getters, and thereby loads HTTP/2 and Node's
 * `fetch`: 10 MB of memory in a process that needs neither.
 */
export const { Agent, createServer, request } = process.getBuiltinModule('node:http');
