import { Type } from 'typebox';
import { AirlockError } from '../errors.ts';
import type { SessionEvent } from '../sessions/events.ts';
import type { Session } from '../sessions/session.ts';
import { defineOperation, TextStream } from './define.ts';

/** A comment now and then tells a reader, and whatever is between, that the connection lives. */
const HEARTBEAT_MS = 15_000;

const events = defineOperation({
  name: 'events',
  method: 'GET',
  path: '/v1/sessions/{id}/events',
  summary: 'What happens in the session, as server-sent events; Last-Event-ID replays',
  description:
    'Types: denial, dialog, dialog_closed, tab_opened, tab_closed, navigated, crash, download, closing, closed; `lost` says how many older ones are no longer kept. The stream ends with the session.',
  tag: 'sessions',
  scope: 'observer',
  input: Type.Object({
    since: Type.Optional(
      Type.Integer({ minimum: 0, description: 'as Last-Event-ID, for clients without it' }),
    ),
  }),
  result: Type.Unknown({ 'x-untrusted': true }),
  binary: ['text/event-stream'],
  async run({ session, request }, { since }) {
    const header = request.headers['last-event-id'];
    if (header !== undefined && !/^\d{1,15}$/.test(String(header))) {
      throw new AirlockError('invalid_request', 'Last-Event-ID must be the id of an event of this session');
    }
    const from = header === undefined ? (since ?? 0) : Number(header);
    return new TextStream('text/event-stream; charset=utf-8', messages(session, from, request.signal));
  },
});

async function* messages(session: Session, from: number, signal: AbortSignal): AsyncGenerator<string> {
  // Sent at once, so that a client knows that it is connected before anything happens.
  yield ': airlock\n\n';
  const source = session.events.follow(from, signal);
  let next = source.next();
  let beat = heartbeat();
  try {
    for (;;) {
      const result = await Promise.race([next, beat]);
      if (result === HEARTBEAT) {
        yield ': still here\n\n';
        beat = heartbeat();
        continue;
      }
      if (result.done) return;
      yield format(result.value);
      next = source.next();
    }
  } finally {
    await source.return(undefined);
  }
}

const HEARTBEAT = Symbol('heartbeat');

function heartbeat(): Promise<typeof HEARTBEAT> {
  return new Promise((resolve) => setTimeout(() => resolve(HEARTBEAT), HEARTBEAT_MS).unref());
}

function format(event: SessionEvent | { lost: number }): string {
  if ('lost' in event) return `event: lost\ndata: ${JSON.stringify(event)}\n\n`;
  const { id, type, time, data } = event;
  return `id: ${id}\nevent: ${type}\ndata: ${JSON.stringify({ time, ...data })}\n\n`;
}

export const eventOperations = [events];
