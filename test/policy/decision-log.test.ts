import { describe, expect, test } from 'vitest';
import { type Decision, deny, allow as toAllow } from '../../src/policy/decision.ts';
import { DecisionLog, type DecisionRecord } from '../../src/policy/decision-log.ts';

const allow = toAllow({ address: '192.0.2.1' });
const denied = deny('loopback');

function entry(target: string, decision: Decision = denied) {
  return { stage: 'host' as const, target, decision };
}

describe('the decision log', () => {
  test('keeps what was decided, in order', () => {
    const log = new DecisionLog({ now: () => 1000 });
    log.record({ stage: 'address', target: 'a.example:443', decision: allow, tab: 't1' });
    log.record(entry('localhost:80', deny('rule', { rule: '-localhost' })));
    expect(log.query()).toEqual([
      {
        seq: 1,
        time: 1000,
        stage: 'address',
        target: 'a.example:443',
        address: '192.0.2.1',
        verdict: 'allow',
        reason: 'ok',
        count: 1,
        tab: 't1',
      },
      {
        seq: 2,
        time: 1000,
        stage: 'host',
        target: 'localhost:80',
        verdict: 'deny',
        reason: 'rule',
        rule: '-localhost',
        count: 1,
      },
    ]);
  });

  test('folds repeats into the newest, which a cursor then sees again', () => {
    const log = new DecisionLog();
    log.record(entry('a:80'));
    log.record(entry('b:80'));
    const { cursor } = log;
    log.record(entry('a:80'));
    expect(log.query({ since: cursor })).toMatchObject([{ target: 'a:80', count: 2 }]);
    expect(log.query().map(({ target }) => target)).toEqual(['b:80', 'a:80']);
  });

  test('does not fold what differs, nor what comes late', () => {
    let now = 0;
    const log = new DecisionLog({ foldMs: 100, now: () => now });
    log.record(entry('a:80'));
    log.record({ ...entry('a:80'), tab: 't2' });
    log.record({ ...entry('a:80'), stage: 'address' });
    log.record(entry('a:80', deny('private')));
    now = 101;
    log.record(entry('a:80'));
    expect(log.query().map(({ count }) => count)).toEqual([1, 1, 1, 1, 1]);
  });

  test('keeps the newest records and counts all', () => {
    const log = new DecisionLog({ capacity: 3 });
    for (let i = 0; i < 10; i++) log.record(entry(`h${i}:80`));
    log.record(entry('ok:80', allow));
    expect(log.query().map(({ target }) => target)).toEqual(['h8:80', 'h9:80', 'ok:80']);
    expect(log.counters).toEqual({ allowed: 1, denied: 10, deniedBy: { loopback: 10 } });
  });

  test('a record that was dropped is not folded into', () => {
    const log = new DecisionLog({ capacity: 1 });
    log.record(entry('a:80'));
    log.record(entry('b:80'));
    log.record(entry('a:80'));
    expect(log.query()).toMatchObject([{ target: 'a:80', count: 1, seq: 3 }]);
  });

  test('answers by verdict, cursor and limit', () => {
    const log = new DecisionLog();
    for (let i = 0; i < 4; i++) {
      log.record(entry(`d${i}`));
      log.record(entry(`a${i}`, allow));
    }
    const targets = (records: DecisionRecord[]) => records.map(({ target }) => target);
    expect(targets(log.query({ verdict: 'deny' }))).toEqual(['d0', 'd1', 'd2', 'd3']);
    expect(targets(log.query({ since: 5 }))).toEqual(['a2', 'd3', 'a3']);
    expect(targets(log.query({ limit: 2 }))).toEqual(['d3', 'a3']);
    expect(targets(log.query({ verdict: 'allow', since: 2, limit: 1 }))).toEqual(['a3']);
    expect(log.query({ limit: 0 })).toEqual([]);
  });

  test('tells listeners of denials only, until they stop', () => {
    const log = new DecisionLog();
    const heard: number[] = [];
    const stop = log.onDenial((record) => heard.push(record.seq));
    log.record(entry('a', allow));
    log.record(entry('b'));
    log.record(entry('b'));
    stop();
    log.record(entry('c'));
    expect(heard).toEqual([2, 3]);
  });

  test('cuts a target that is too long to read', () => {
    const log = new DecisionLog();
    const { target } = log.record(entry(`data:,${'x'.repeat(5_000_000)}`));
    expect(target.length).toBeLessThanOrEqual(2048);
  });

  test('forgets everything but its place when it is handed over', () => {
    const log = new DecisionLog();
    log.record(entry('a'));
    log.clear();
    expect(log.query()).toEqual([]);
    expect(log.counters).toEqual({ allowed: 0, denied: 0, deniedBy: {} });
    expect(log.record(entry('a'))).toMatchObject({ seq: 2, count: 1 });
  });
});
