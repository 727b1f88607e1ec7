import { Type } from 'typebox';

/** What a close answers (residual law): everything in it was looked at after the fact, nothing is assumed. */
export const Receipt = Type.Object({
  sessionId: Type.String(),
  reason: Type.String({ description: 'deleted, ttl, idle, crashed, shutdown, client_gone, floor_down, …' }),
  closedAt: Type.String({ format: 'date-time' }),
  durationMs: Type.Number(),
  processes: Type.Object({
    seen: Type.Integer({ description: 'processes of the session when the close began' }),
    exited: Type.Integer({ description: 'ended by themselves after Browser.close' }),
    terminated: Type.Integer({ description: 'ended after SIGTERM' }),
    killed: Type.Integer({ description: 'ended by SIGKILL' }),
    survivors: Type.Integer({ description: 'still there: 0, or there is a fault' }),
    zombies: Type.Optional(Type.Integer({ description: 'dead, and not yet reaped by their new parent' })),
  }),
  disk: Type.Object({
    entries: Type.Integer({ description: 'files and directories removed' }),
    bytes: Type.Integer(),
    survivors: Type.Integer(),
  }),
  floor: Type.Object({ connectionsClosed: Type.Integer() }),
  problems: Type.Optional(Type.Array(Type.String())),
  zero: Type.Boolean({ description: 'true when nothing is left, seen by looking' }),
});
