/** A floor for a test, with a name server of its own and nothing else that could reach out. */

import { Floor, type FloorOptions } from '../../src/policy/floor.ts';
import { HostsFile } from '../../src/policy/hosts-file.ts';
import { type PolicyInput, parsePolicy } from '../../src/policy/policy.ts';
import { Resolver, type ResolverOptions } from '../../src/policy/resolver.ts';
import { SelfRegistry } from '../../src/policy/self.ts';
import { type DnsHandler, DnsServer } from './dns-server.ts';

export interface TestFloorOptions extends Partial<Omit<FloorOptions, 'policy' | 'resolver' | 'self'>> {
  readonly policy?: PolicyInput;
  readonly self?: SelfRegistry;
  /** NXDOMAIN for everything when absent. */
  readonly dns?: DnsHandler;
  readonly resolver?: ResolverOptions;
}

export class TestFloor implements AsyncDisposable {
  readonly floor: Floor;
  readonly dns: DnsServer;
  readonly self: SelfRegistry;

  private constructor(floor: Floor, dns: DnsServer, self: SelfRegistry) {
    this.floor = floor;
    this.dns = dns;
    this.self = self;
  }

  static async open(options: TestFloorOptions = {}): Promise<TestFloor> {
    const { policy = {}, self = new SelfRegistry(), dns: handler = () => 'nxdomain', ...rest } = options;
    const dns = await DnsServer.start(handler);
    const hostsFile = new HostsFile('/nonexistent/hosts');
    const resolver = new Resolver({ servers: [dns.address], hostsFile, ...options.resolver });
    const floor = await Floor.open({ ...rest, policy: parsePolicy(policy), self, resolver });
    return new TestFloor(floor, dns, self);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.floor.close();
    await this.dns[Symbol.asyncDispose]();
  }
}
