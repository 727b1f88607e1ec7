declare module 'turndown-plugin-gfm' {
  import type { Plugin } from 'turndown';
  export const gfm: Plugin;
}

declare module '@mozilla/readability/JSDOMParser.js' {
  export default class JSDOMParser {
    parse(html: string, url: string): Document;
  }
}

declare module '@mixmark-io/domino' {
  const domino: { createDocument(html: string, force: boolean): Document };
  export default domino;
}
