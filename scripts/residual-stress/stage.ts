import { describeLeftovers, descriptorsOf, leftovers } from '../../test/support/outside.ts';
import { eventually } from '../../test/support/processes.ts';
import type { TestService } from '../../test/support/service.ts';

/** How long what dies without anybody waiting for it may take: a crash handler was seen to outlive Chrome by 1.5 s. */
export const GRACE_MS = 15_000;

/** Something is left, or an answer is wrong: the run ends. */
export class Residue extends Error {
  override readonly name = 'Residue';
}

export interface StageOptions {
  /** Pages to load, in turn. */
  readonly pages: readonly string[];
  /** Flags that let a service reach them. */
  readonly flags: readonly string[];
  /** How many sessions "many" are. */
  readonly many: number;
}

/** What a death needs: pages, a service that goes on living, and the number of the cycle for what varies. */
export class Stage {
  readonly service: TestService;
  readonly options: StageOptions;
  cycle = 0;
  #page = 0;

  constructor(service: TestService, options: StageOptions) {
    this.service = service;
    this.options = options;
  }

  /** The next page. */
  get page(): string {
    this.#page += 1;
    return this.options.pages[this.#page % this.options.pages.length] ?? 'about:blank';
  }

  /** A session with a page in it. */
  async session(body: Record<string, unknown> = {}, service = this.service): Promise<string> {
    const session = await service.session(body);
    const answer = await service.post(`${session}/navigate`, { url: this.page });
    // A session may die by its time limit while the page loads: that is what some are made for.
    if (answer.status !== 200 && answer.status !== 410) throw new Residue(`no page: ${answer.text}`);
    return session;
  }

  /** Closes a session: the receipt says zero, and at that very moment it is true. */
  async close(session: string): Promise<void> {
    const { status, body, text } = await this.service.delete(session);
    if (status !== 200 || body.zero !== true) throw new Residue(`the receipt is ${status} ${text}`);
    await this.expectNothing();
  }

  /** A session that ends by itself does so for this reason, and its receipt says zero. Looking at it is use, so we wait. */
  async ended(session: string, reason: string): Promise<void> {
    const id = session.split('/').at(-1);
    await eventually(
      async () => (await this.service.get('/v1/sessions')).body.sessions.map((one: { id: string }) => one.id),
      (open: string[]) => !open.includes(id ?? ''),
      GRACE_MS,
    );
    const { status, body, text } = await this.service.get(session);
    const right = status === 410 && body.reason === reason && body.receipt?.zero === true;
    if (!right) throw new Residue(`expected the end by ${reason}, got ${status} ${text}`);
    await this.expectNothing();
  }

  /** Nothing is left of any session of the service, now. */
  expectNothing(): Promise<void> {
    return expectNothing(this.service);
  }

  /** Nothing is left, soon: for deaths that nobody waits for. */
  async expectNothingSoon(): Promise<void> {
    const found = () => leftovers(this.service.root, [this.service.pid]).then(describeLeftovers);
    await eventually(found, (left) => left === '', GRACE_MS);
  }

  /** Open descriptors of the service, once the sockets of our own requests have been closed by its peer. */
  async descriptors(atMost: number): Promise<number> {
    return eventually(
      () => descriptorsOf(this.service.pid),
      (count) => count <= atMost,
      GRACE_MS,
    );
  }
}

/** @throws Residue something of the service's sessions is there now */
export async function expectNothing(service: TestService): Promise<void> {
  const left = describeLeftovers(await leftovers(service.root, [service.pid]));
  if (left !== '') throw new Residue(left);
}
