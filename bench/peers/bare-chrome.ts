import { launchChrome } from '../../src/sessions/launch-chrome.ts';
import type { Bench } from '../bench.ts';
import { PeerHome } from './home.ts';

/** A Chrome with the flags of the service that nobody is attached to. */
export class BareChrome implements AsyncDisposable {
  readonly pid: number;
  readonly #exited: Promise<unknown>;
  readonly #home: PeerHome;

  private constructor(pid: number, exited: Promise<unknown>, home: PeerHome) {
    this.pid = pid;
    this.#exited = exited;
    this.#home = home;
  }

  static async start(bench: Bench): Promise<BareChrome> {
    const home = await PeerHome.make(bench);
    const options = {
      path: bench.chrome.path,
      args: home.flags,
      env: home.env,
      cwd: home.dir,
      stderrLimit: 4096,
    };
    const { pid, exited } = await launchChrome(options);
    return new BareChrome(pid, exited, home);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    process.kill(-this.pid, 'SIGKILL');
    await this.#exited;
    await this.#home[Symbol.asyncDispose]();
  }
}
