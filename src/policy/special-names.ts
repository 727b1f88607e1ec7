import type { Reason } from './decision.ts';

/** Names that mean this machine, by RFC 6761 or by the hosts file of every common system. */
const hostsFileNames: ReadonlySet<string> = new Set([
  'ip6-localhost',
  'ip6-loopback',
  'ip6-localnet',
  'ip6-mcastprefix',
  'ip6-allnodes',
  'ip6-allrouters',
  'ip6-allhosts',
  'localhost4',
  'localhost6',
  'localhost.localdomain',
  'localhost4.localdomain4',
  'localhost6.localdomain6',
  'broadcasthost',
  // nss-myhostname of systemd
  '_gateway',
  '_outbound',
  '_localdnsstub',
  '_localdnsproxy',
]);

/** What container engines call the machine that they run on; the class is that of the address behind it. */
const containerHostNames: ReadonlyMap<string, 'private' | 'loopback'> = new Map([
  ['host.docker.internal', 'private'],
  ['gateway.docker.internal', 'private'],
  ['vm.docker.internal', 'private'],
  ['kubernetes.docker.internal', 'loopback'],
  ['host.containers.internal', 'private'],
  ['host.lima.internal', 'private'],
  ['host.minikube.internal', 'private'],
  ['host.rancher-desktop.internal', 'private'],
  ['host.orb.internal', 'private'],
  ['host.k3d.internal', 'private'],
]);

/**
 * Suffixes that the public DNS does not serve: IANA Special-Use Domain Names (RFC 6761, 6762, 7686, 8375, 8880, 9476),
 * ICANN's .internal, and what RFC 6762 appendix G and routers use for private networks. `.test` and `.example` are not
 * here: those RFCs ask software to treat them as any other name.
 */
const specialSuffixes: ReadonlySet<string> = new Set([
  'alt',
  'corp',
  'home',
  'home.arpa',
  'internal',
  'intranet',
  'invalid',
  'ipv4only.arpa',
  'lan',
  'local',
  'localdomain',
  'onion',
  'private',
  'resolver.arpa',
  'service.arpa',
]);

/** Services that full Chrome calls by itself, whatever the page does; measured, see the lockdown flags. */
const browserServiceNames: ReadonlySet<string> = new Set([
  'update.googleapis.com',
  'clients2.google.com',
  'redirector.gvt1.com',
  'edgedl.me.gvt1.com',
  'android.clients.google.com',
  'mtalk.google.com',
  'optimizationguide-pa.googleapis.com',
  'clientservices.googleapis.com',
]);

/** `localhost` and everything below it (RFC 6761, 6.3): loopback without asking anyone. */
export function isLocalhost(name: string): boolean {
  return name === 'localhost' || name.endsWith('.localhost');
}

/** Is this name loopback by the hosts file? Then a rule that names it means loopback. */
export function isLoopbackAlias(name: string): boolean {
  return (
    isLocalhost(name) || name === 'ip6-loopback' || (hostsFileNames.has(name) && name.includes('localhost'))
  );
}

/** The class of a name that needs an allow rule of its own before anyone may even look it up. */
export function classOfName(
  name: string,
): Extract<Reason, 'loopback' | 'private' | 'dns-alias' | 'special-name'> | 'ok' {
  if (isLocalhost(name)) return 'loopback';
  if (hostsFileNames.has(name)) return 'dns-alias';
  const container = containerHostNames.get(name);
  if (container !== undefined) return container;
  // Without a dot only a search list or a hosts file can answer.
  return !name.includes('.') || hasSpecialSuffix(name) ? 'special-name' : 'ok';
}

/** Is the name, or a domain above it, one that the public DNS does not serve? */
export function hasSpecialSuffix(name: string): boolean {
  const lastDot = name.lastIndexOf('.');
  const secondDot = name.lastIndexOf('.', lastDot - 1);
  return specialSuffixes.has(name.slice(lastDot + 1)) || specialSuffixes.has(name.slice(secondDot + 1));
}

/** A service of the browser itself: refused unless an allow rule names it. */
export function isBrowserService(name: string): boolean {
  return browserServiceNames.has(name);
}
