import type { ConnectionTransport } from 'puppeteer-core';
import { Connection } from 'puppeteer-core/internal/cdp/Connection.js';

/**
 * The connection of a session, with three differences to puppeteer's.
 *
 * Puppeteer makes an error with its stack for each command, for the case that Chrome refuses it, which is a twentieth of the
 * processor time of a small request. Here such errors have no frames, and a message that names the command; `Operation` adds
 * the frames of whoever waits.
 *
 * A command that cannot be sent any more throws there at once: of several that are sent together, those before it would then be
 * promises that nobody holds, and end the whole service when they fail. Here it is a promise that fails, like all others.
 *
 * And it handles messages in a promise that nobody holds: what is thrown for one, because Chrome sends nonsense or a listener
 * fails, would end the whole service. Here it ends this connection, and Chrome with it.
 */
export class ChromeConnection extends Connection {
  readonly #onFault: (error: unknown) => void;

  constructor(transport: ConnectionTransport, onFault: (error: unknown) => void) {
    super('', transport, undefined, 0, undefined, undefined, noLog);
    this.#onFault = onFault;
  }

  override _rawSend(...command: Parameters<Connection['_rawSend']>): ReturnType<Connection['_rawSend']> {
    const limit = Error.stackTraceLimit;
    Error.stackTraceLimit = 0;
    try {
      return super._rawSend(...command);
    } catch (error) {
      return Promise.reject(error);
    } finally {
      Error.stackTraceLimit = limit;
    }
  }

  protected override onMessage(message: string): Promise<void> {
    return super.onMessage(message).catch(this.#onBroken);
  }

  readonly #onBroken = (error: unknown): void => {
    this.#onFault(error);
    this.dispose();
  };
}

function noLog(): undefined {
  return undefined;
}
