import { type Address, type Block, blocksOf, embeddedIn, inBlock, parseAddress } from './address.ts';

/**
 * Where clouds keep instance credentials, and the resolvers and clocks beside them. From the vendors' documentation:
 * AWS, GCP, Azure, Oracle, Alibaba, Tencent, Volcengine, Scaleway, Linode, OpenStack.
 */
const metadataAddresses: ReadonlySet<string> = new Set(
  [
    '169.254.169.254', // AWS, Azure, GCP, DigitalOcean, Hetzner, OpenStack, Oracle, IBM, Linode, Vultr
    '169.254.170.2', // AWS ECS task credentials
    '169.254.170.23', // AWS EKS pod identity
    '169.254.169.253', // AWS resolver
    '169.254.169.123', // AWS clock
    '169.254.0.23', // Tencent
    '169.254.42.42', // Scaleway
    '169.254.169.250', // AWS KMS for Windows
    '100.100.100.200', // Alibaba
    '100.96.0.96', // Volcengine
    '192.0.0.192', // Oracle classic
    '168.63.129.16', // Azure wire server; a public address by every registry
    'fd00:ec2::254', // AWS
    'fd00:ec2::23', // AWS EKS pod identity
    'fd00:ec2::253', // AWS resolver
    'fd00:ec2::123', // AWS clock
    'fd20:ce::254', // GCP
    'fd00:c1::a9fe:a9fe', // Oracle
    'fd00:42::42', // Scaleway
    'fd00:a9fe:a9fe::1', // Linode
    'fd00:100::100:200', // Alibaba
    'fe80::a9fe:a9fe', // OpenStack
  ].map((text) => parseAddress(text)?.text ?? text),
);

/** Blocks that no rule opens, because metadata services live there and move about inside them. */
const closedBlocks = blocksOf(['169.254.0.0/16', 'fe80::/10', 'fd00:ec2::/32', 'fd20:ce::/32']);

const metadataNames: ReadonlySet<string> = new Set([
  'metadata.google.internal',
  'metadata.goog',
  'metadata',
  'instance-data',
  'instance-data.ec2.internal',
  'metadata.azure.internal',
  'metadata.tencentyun.com',
  'metadata.packet.net',
  'metadata.platformequinix.com',
  'api.metadata.cloud.ibm.com',
  'rancher-metadata',
]);

/** Is this address, or an IPv4 that it carries in any form, a metadata service? */
export function isMetadataAddress(address: Address, nat64: readonly Block[] = []): boolean {
  return selfAndCarried(address, nat64).some(({ text }) => metadataAddresses.has(text));
}

/** Is this address, or an IPv4 that it carries, where no rule may lead? */
export function isClosedAddress(address: Address, nat64: readonly Block[] = []): boolean {
  return selfAndCarried(address, nat64).some((one) => closedBlocks.some((block) => inBlock(one, block)));
}

/** The address and every IPv4 that it carries. */
export function selfAndCarried(address: Address, nat64: readonly Block[]): readonly Address[] {
  return [address, ...embeddedIn(address, nat64).map((inner) => inner.address)];
}

/** Is this canonical name one of a metadata service, or below one? */
export function isMetadataName(name: string): boolean {
  for (let at = 0; at !== -1; ) {
    if (metadataNames.has(name.slice(at))) return true;
    const dot = name.indexOf('.', at);
    at = dot === -1 ? -1 : dot + 1;
  }
  return false;
}
