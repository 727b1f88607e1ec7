import { Connection } from 'puppeteer-core/internal/cdp/Connection.js';

/**
 * The connection of a session. Puppeteer makes an error with its stack for each command, for the case that Chrome refuses it,
 * which is a twentieth of the processor time of a small request. Here such errors have no frames, and a message that names
 * the command; `Operation` adds the frames of whoever waits.
 */
export class ChromeConnection extends Connection {
  override _rawSend(...command: Parameters<Connection['_rawSend']>): ReturnType<Connection['_rawSend']> {
    const limit = Error.stackTraceLimit;
    Error.stackTraceLimit = 0;
    try {
      return super._rawSend(...command);
    } finally {
      Error.stackTraceLimit = limit;
    }
  }
}
