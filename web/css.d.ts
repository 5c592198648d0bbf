/** The text of a file of styles, where a build takes it as such (build/client.ts). */
declare module '*.css' {
  const text: string;
  export default text;
}
